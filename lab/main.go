// SPDX-License-Identifier: Apache-2.0

// Command trellis-lab is the real Kubernetes control plane and kubectl in one binary.
//
// It holds no code of ours: it only picks a component by its first argument (or, when
// called through a link, by the link's name) and hands over. Each component runs as a
// process of its own, because in one process they would share feature gates and race.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// A parent that is killed cannot stop its children, so each child watches for its end.
const (
	parentPipe    = "TRELLIS_LAB_PARENT_PIPE" // set: standard input is a pipe that the parent holds open
	orphanedGrace = 4 * time.Second
)

var servers = map[string]func() *cobra.Command{
	"kube-apiserver":          func() *cobra.Command { return apiserver.NewAPIServerCommand() },
	"kube-controller-manager": func() *cobra.Command { return controllermanager.NewControllerManagerCommand() },
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
}

func main() {
	component := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if !known(component) && len(os.Args) > 1 {
		component = os.Args[1]
		os.Args = os.Args[1:]
	}
	if !known(component) {
		fmt.Fprintln(os.Stderr, "usage: trellis-lab etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [FLAGS]")
		os.Exit(2)
	}
	if os.Getenv(parentPipe) != "" {
		go endWithParent()
	}
	switch component {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kubectl":
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
	default:
		os.Exit(cli.Run(servers[component]()))
	}
}

func known(component string) bool {
	return component == "etcd" || component == "kubectl" || servers[component] != nil
}

func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	time.Sleep(orphanedGrace)
	os.Exit(1)
}
