// Package client answers as the real one does where no worker is started by the server: there is none.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"
)

var Module = fx.Provide(func() Client { return Client{} })

type (
	Client struct{}

	version = *deploymentpb.WorkerDeploymentVersion
	updates = map[string]iface.ScalingGroupSpecUpdate
)

var (
	errNone        = serviceerror.NewNotFound("this server starts no workers")
	errUnsupported = serviceerror.NewInvalidArgument("this server starts no workers")
)

func (Client) DescribeWorkerControllerInstance(
	context.Context, *namespace.Namespace, version,
) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, errNone
}

func (Client) UpdateWorkerControllerInstance(
	context.Context, *namespace.Namespace, version, []byte, string, updates, []string,
) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, errUnsupported
}

func (Client) ValidateWorkerControllerInstanceSpec(
	context.Context, *namespace.Namespace, version, string, updates, []string,
) error {
	return errUnsupported
}

func (Client) DeleteWorkerControllerInstance(context.Context, *namespace.Namespace, version, string) error {
	return nil
}
