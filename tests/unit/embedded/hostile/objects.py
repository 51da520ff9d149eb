# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501  one object a line reads best
"""Objects of many kinds that a server takes as they are, with the collections they go to."""

from __future__ import annotations

from typing import Any

import yaml

_OBJECTS = """
/api/v1/namespaces/default/configmaps:
  {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {a: b}}, data: {a: "1"}, binaryData: {b: AA==}}
/api/v1/namespaces/default/secrets:
  {apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: "1"}, type: Opaque}
/api/v1/namespaces:
  {apiVersion: v1, kind: Namespace, metadata: {name: x, finalizers: [a.example/b]}, spec: {finalizers: [kubernetes]}}
/api/v1/nodes:
  apiVersion: v1
  kind: Node
  metadata: {name: x}
  spec: {unschedulable: true, taints: [{key: a, value: b, effect: NoSchedule}], podCIDRs: [10.0.0.0/24], podCIDR: 10.0.0.0/24}
  status: {capacity: {cpu: "1", memory: 1Gi}, conditions: [{type: Ready, status: "True"}], addresses: [{type: InternalIP, address: 10.0.0.1}]}
/api/v1/namespaces/default/pods:
  apiVersion: v1
  kind: Pod
  metadata: {name: x, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: u, controller: true}]}
  spec:
    schedulerName: nobody
    terminationGracePeriodSeconds: 5
    nodeSelector: {a: b}
    schedulingGates: [{name: a.example/b}]
    tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]
    topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]
    affinity:
      nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}
      podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}}]}
    securityContext: {runAsUser: 1, fsGroup: 2, sysctls: [{name: kernel.shm_rmid_forced, value: "0"}], seccompProfile: {type: RuntimeDefault}}
    resourceClaims: [{name: c, resourceClaimTemplateName: t}]
    initContainers: [{name: i, image: i, restartPolicy: Always}]
    containers:
    - name: main
      image: i
      command: [a]
      env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: C, valueFrom: {configMapKeyRef: {name: x, key: y}}}]
      envFrom: [{secretRef: {name: s}}]
      ports: [{containerPort: 80, name: web, protocol: TCP, hostPort: 0}]
      resources: {limits: {cpu: 100m, memory: 1Gi, nvidia.com/gpu: "1"}, claims: [{name: c}]}
      readinessProbe: {httpGet: {path: /, port: web, httpHeaders: [{name: a, value: b}]}, periodSeconds: 1}
      livenessProbe: {exec: {command: [a]}}
      startupProbe: {grpc: {port: 1}}
      lifecycle: {preStop: {sleep: {seconds: 1}}}
      volumeMounts: [{name: d, mountPath: /d, subPath: a}]
      securityContext: {privileged: false, capabilities: {add: [A], drop: [ALL]}}
    volumes:
    - {name: d, emptyDir: {sizeLimit: 1Gi}}
    - {name: e, configMap: {name: x, items: [{key: a, path: b, mode: 420}], optional: true}}
    - {name: f, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}]}}
    - {name: g, persistentVolumeClaim: {claimName: x}}
    - {name: h, hostPath: {path: /h, type: Directory}}
  status: {phase: Pending, conditions: [{type: Ready, status: "False"}], podIPs: [{ip: 10.0.0.1}]}
/api/v1/namespaces/default/services:
  {apiVersion: v1, kind: Service, metadata: {name: x}, spec: {selector: {a: b}, type: NodePort, ports: [{port: 80, targetPort: web, name: a, nodePort: 30080}], sessionAffinity: ClientIP}}
/api/v1/namespaces/default/serviceaccounts:
  {apiVersion: v1, kind: ServiceAccount, metadata: {name: x}, imagePullSecrets: [{name: a}], automountServiceAccountToken: true}
/api/v1/namespaces/default/resourcequotas:
  {apiVersion: v1, kind: ResourceQuota, metadata: {name: x}, spec: {hard: {pods: "5"}, scopes: [BestEffort]}}
/api/v1/namespaces/default/limitranges:
  {apiVersion: v1, kind: LimitRange, metadata: {name: x}, spec: {limits: [{type: Container, max: {cpu: "1"}, default: {cpu: "1"}}]}}
/api/v1/namespaces/default/persistentvolumeclaims:
  {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
/api/v1/namespaces/default/events:
  {apiVersion: v1, kind: Event, metadata: {name: x}, involvedObject: {kind: Pod, name: x, namespace: default}, reason: a, count: 1, lastTimestamp: "2020-01-01T00:00:00Z"}
/api/v1/namespaces/default/pods/x/binding:
  {apiVersion: v1, kind: Binding, metadata: {name: x}, target: {kind: Node, name: x}}
/api/v1/namespaces/default/pods/x/eviction:
  {apiVersion: policy/v1, kind: Eviction, metadata: {name: x}, deleteOptions: {gracePeriodSeconds: 0, preconditions: {uid: u}}}
/api/v1/namespaces/default/serviceaccounts/default/token:
  {apiVersion: authentication.k8s.io/v1, kind: TokenRequest, metadata: {name: default}, spec: {audiences: [a], expirationSeconds: 600, boundObjectRef: {kind: Pod, name: x, apiVersion: v1}}}
/apis/apps/v1/namespaces/default/deployments:
  {apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 1, selector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: DoesNotExist}]}, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}]}}}}
/apis/apps/v1/namespaces/default/statefulsets:
  {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {serviceName: s, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}]}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}
/apis/apps/v1/namespaces/default/daemonsets:
  {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}]}}}}
/apis/batch/v1/namespaces/default/jobs:
  {apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {completions: 2, parallelism: 1, completionMode: Indexed, backoffLimitPerIndex: 1, podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1]}}]}, successPolicy: {rules: [{succeededIndexes: 0-1}]}, template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}
/apis/batch/v1/namespaces/default/cronjobs:
  {apiVersion: batch/v1, kind: CronJob, metadata: {name: x}, spec: {schedule: "0 0 1 1 *", timeZone: Etc/UTC, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}}}
/apis/policy/v1/namespaces/default/poddisruptionbudgets:
  {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: x}, spec: {minAvailable: 50%, selector: {matchLabels: {a: b}}}}
/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers:
  {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: x}, spec: {maxReplicas: 2, scaleTargetRef: {kind: Deployment, name: x, apiVersion: apps/v1}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 5}}}], behavior: {scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 5}]}}}}
/apis/networking.k8s.io/v1/namespaces/default/ingresses:
  {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: x}, spec: {rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}], tls: [{hosts: [a.example], secretName: s}]}}
/apis/networking.k8s.io/v1/namespaces/default/networkpolicies:
  {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x}, spec: {podSelector: {matchLabels: {a: b}}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [{port: 80, endPort: 90, protocol: TCP}]}], policyTypes: [Ingress]}}
/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles:
  {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: x}, rules: [{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a]}]}
/apis/rbac.authorization.k8s.io/v1/clusterrolebindings:
  {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: x}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: User, name: a, apiGroup: rbac.authorization.k8s.io}]}
/apis/rbac.authorization.k8s.io/v1/clusterroles:
  {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, rules: [{nonResourceURLs: [/a/*], verbs: [get]}], aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}}
/apis/coordination.k8s.io/v1/namespaces/default/leases:
  {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: x}, spec: {holderIdentity: a, leaseDurationSeconds: 5, renewTime: "2020-01-01T00:00:00.000000Z", leaseTransitions: 1}}
/apis/scheduling.k8s.io/v1/priorityclasses:
  {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 5, preemptionPolicy: Never}
/apis/resource.k8s.io/v1/deviceclasses:
  {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: x}, spec: {selectors: [{cel: {expression: "device.driver == 'a'"}}], config: [{opaque: {driver: a.example, parameters: {a: 1}}}]}}
/apis/resource.k8s.io/v1/namespaces/default/resourceclaims:
  {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: x}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: x, count: 1, selectors: [{cel: {expression: "device.capacity['a'].m.compareTo(quantity('1')) > 0"}}]}}], constraints: [{requests: [r], matchAttribute: a.example/b}]}}}
/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates:
  {apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: x}, spec: {spec: {devices: {requests: [{name: r, firstAvailable: [{name: s, deviceClassName: x}]}]}}}}
/apis/resource.k8s.io/v1/resourceslices:
  {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: x}, spec: {driver: a.example, nodeName: x, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: g, attributes: {a: {string: b}, v: {version: 1.0.0}}, capacity: {m: {value: 1Gi}}, taints: [{key: a, effect: NoSchedule}]}]}}
/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations:
  {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: x}, webhooks: [{name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, clientConfig: {url: "https://127.0.0.1:1/a"}, rules: [{apiGroups: [none.example], apiVersions: [v1], operations: [CREATE], resources: [nothings]}], matchConditions: [{name: a, expression: "true"}]}]}
/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies:
  {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: x}, spec: {matchConstraints: {resourceRules: [{apiGroups: [none.example], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}, variables: [{name: v, expression: "1"}], validations: [{expression: "variables.v == 1", messageExpression: "'a'"}], matchConditions: [{name: a, expression: "true"}]}}
/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings:
  {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: x}, spec: {policyName: x, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {a: b}}}}}
/apis/apiextensions.k8s.io/v1/customresourcedefinitions:
  apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: xs.hostile.example.com}
  spec:
    group: hostile.example.com
    scope: Namespaced
    names: {plural: xs, singular: x, kind: X, shortNames: [ex], categories: [all]}
    versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}, scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n, labelSelectorPath: .status.s}}
      additionalPrinterColumns: [{name: N, type: integer, jsonPath: ".spec.n"}]
      selectableFields: [{jsonPath: .spec.s}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                n: {type: integer, minimum: 0, maximum: 9, default: 1}
                s: {type: string, pattern: "^[a-z]*$", maxLength: 5, format: uuid}
                l: {type: array, maxItems: 5, items: {type: object, properties: {k: {type: string}}, required: [k]}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}
                m: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}, maxProperties: 5}
                f: {type: object, x-kubernetes-preserve-unknown-fields: true}
                e: {type: string, enum: [a, b], nullable: true}
              x-kubernetes-validations: [{rule: "!has(self.n) || self.n < 8", message: large, fieldPath: .n}]
            status: {type: object, x-kubernetes-preserve-unknown-fields: true}
/apis/hostile.example.com/v1/namespaces/default/xs:
  {apiVersion: hostile.example.com/v1, kind: X, metadata: {name: x}, spec: {n: 2, s: "", l: [{k: a}, {k: b}], m: {a: 1, b: 50%}, f: {x: [1, {y: 2.5}]}, e: a}, status: {n: 1}}
/apis/authorization.k8s.io/v1/subjectaccessreviews:
  {apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, metadata: {name: x}, spec: {user: a, groups: [b], resourceAttributes: {verb: get, resource: pods, labelSelector: {requirements: [{key: a, operator: In, values: [b]}]}}}}
/apis/authentication.k8s.io/v1/tokenreviews:
  {apiVersion: authentication.k8s.io/v1, kind: TokenReview, metadata: {name: x}, spec: {token: a.b.c, audiences: [d]}}
"""

OBJECTS: list[tuple[str, dict[str, Any]]] = list(yaml.safe_load(_OBJECTS).items())
NAMED = [f"{path}/{body['metadata']['name']}" for path, body in OBJECTS]
