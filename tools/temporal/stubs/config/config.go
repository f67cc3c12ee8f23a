// Package config finds no settings of AWS: nothing that needs them can be made.
package config

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
)

var errNone = errors.New("this server is built without AWS")

type (
	EnvConfig struct{ Credentials aws.Credentials }
	option    struct{}
)

func NewEnvConfig() (EnvConfig, error) { return EnvConfig{}, errNone }

func LoadDefaultConfig(context.Context, ...option) (aws.Config, error) { return aws.Config{}, errNone }

func WithRegion(string) option { return option{} }

func WithClientLogMode(aws.ClientLogMode) option { return option{} }
