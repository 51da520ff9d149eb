// Prints how Go shows the internal objects of Kubernetes, for messages that hold one.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	admv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autov2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	adm "k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/storage"
)

var marshaler = reflect.TypeOf((*json.Marshaler)(nil)).Elem()
var seen = map[string]any{}

func name(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	last := parts[len(parts)-1]
	if last == "v1" || last == "v2" {
		last = parts[len(parts)-2]
	}
	return last + "." + t.Name()
}

func deref(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func shape(in, out reflect.Type) string {
	if in.Kind() == reflect.Pointer {
		return "*" + shape(in.Elem(), deref(out))
	}
	if in.Implements(marshaler) || reflect.PointerTo(in).Implements(marshaler) {
		return "=" + in.Name()
	}
	switch in.Kind() {
	case reflect.Struct:
		walk(in, out)
		return name(in)
	case reflect.Slice:
		if in.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		var o reflect.Type
		if out != nil && out.Kind() == reflect.Slice {
			o = out.Elem()
		}
		return "[]" + shape(in.Elem(), o)
	case reflect.Map:
		var o reflect.Type
		if out != nil && out.Kind() == reflect.Map {
			o = out.Elem()
		}
		return "{}" + shape(in.Elem(), o)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Interface:
		return "any"
	}
	return "number"
}

func find(out reflect.Type, field string) (string, reflect.Type) {
	if out == nil || out.Kind() != reflect.Struct {
		return "", nil
	}
	if f, ok := out.FieldByName(field); ok {
		tag := strings.Split(f.Tag.Get("json"), ",")[0]
		return tag, f.Type
	}
	return "", nil
}

func walk(in, out reflect.Type) {
	key := name(in)
	if _, done := seen[key]; done {
		return
	}
	seen[key] = nil
	fields := []any{}
	for i := 0; i < in.NumField(); i++ {
		f := in.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		parts := strings.Split(tag, ",")
		shown, omit := f.Name, false
		if tagged && parts[0] != "" {
			shown = parts[0]
		}
		if shown == "-" {
			continue
		}
		for _, p := range parts[1:] {
			omit = omit || p == "omitempty" || p == "omitzero"
		}
		read, other := find(out, f.Name)
		kind := shape(f.Type, other)
		if f.Anonymous && (!tagged || parts[0] == "") {
			shown = ""
		}
		if read == "" && other == nil && shown != "" {
			fmt.Fprintln(os.Stderr, "no v1 field for", key, f.Name)
		}
		entry := []any{shown, read, kind}
		if omit {
			entry = append(entry, true)
		}
		fields = append(fields, entry)
	}
	seen[key] = fields
}

func main() {
	for _, pair := range [][2]any{
		{core.PodSpec{}, corev1.PodSpec{}},
		{core.PodTemplateSpec{}, corev1.PodTemplateSpec{}},
		{resource.DeviceToleration{}, resourcev1.DeviceToleration{}},
		{core.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
		{core.PersistentVolumeSpec{}, corev1.PersistentVolumeSpec{}},
		{core.ServicePort{}, corev1.ServicePort{}},
		{core.Taint{}, corev1.Taint{}},
		{core.HostIP{}, corev1.HostIP{}},
		{core.PodIP{}, corev1.PodIP{}},
		{batch.SuccessPolicy{}, batchv1.SuccessPolicy{}},
		{batch.PodFailurePolicy{}, batchv1.PodFailurePolicy{}},
		{policy.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetSpec{}},
		{resource.ResourceClaimSpec{}, resourcev1.ResourceClaimSpec{}},
		{resource.ResourceClaimTemplateSpec{}, resourcev1.ResourceClaimTemplateSpec{}},
		{resource.AllocationResult{}, resourcev1.AllocationResult{}},
		{resource.DeviceAttribute{}, resourcev1.DeviceAttribute{}},
		{resource.DeviceTaint{}, resourcev1.DeviceTaint{}},
		{rbac.RoleRef{}, rbacv1.RoleRef{}},
		{apps.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{}},
		{networking.IngressSpec{}, netv1.IngressSpec{}},
		{networking.IngressClassSpec{}, netv1.IngressClassSpec{}},
		{autoscaling.HorizontalPodAutoscalerSpec{}, autov2.HorizontalPodAutoscalerSpec{}},
		{storage.StorageClass{}, storagev1.StorageClass{}},
		{storage.CSIDriverSpec{}, storagev1.CSIDriverSpec{}},
		{adm.ParamRef{}, admv1.ParamRef{}},
	} {
		walk(reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1]))
	}
	keys := make([]string, 0, len(seen))
	for k := range seen {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	fmt.Println("{")
	for i, k := range keys {
		line, _ := json.Marshal(seen[k])
		comma := ","
		if i == len(keys)-1 {
			comma = ""
		}
		fmt.Printf("%q: %s%s\n", k, line, comma)
	}
	fmt.Println("}")
}
