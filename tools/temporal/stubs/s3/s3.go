// Package s3 has no client, as no settings of one are found.
package s3

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func NewFromConfig(aws.Config, func(*Options)) client { return nil }

type (
	Options struct {
		BaseEndpoint *string
		UsePathStyle bool
	}

	HeadBucketInput struct{ Bucket *string }
	HeadObjectInput struct{ Bucket, Key *string }
	GetObjectInput  struct{ Bucket, Key *string }
	PutObjectInput  struct {
		Bucket, Key *string
		Body        io.Reader
	}
	ListObjectsV2Input struct {
		Bucket, Prefix, Delimiter, ContinuationToken *string
		MaxKeys                                      *int32
	}

	HeadBucketOutput    struct{}
	HeadObjectOutput    struct{}
	GetObjectOutput     struct{ Body io.ReadCloser }
	PutObjectOutput     struct{}
	ListObjectsV2Output struct {
		CommonPrefixes        []types.CommonPrefix
		Contents              []types.Object
		IsTruncated           *bool
		NextContinuationToken *string
	}

	client interface {
		HeadBucket(context.Context, *HeadBucketInput, ...func(*Options)) (*HeadBucketOutput, error)
		HeadObject(context.Context, *HeadObjectInput, ...func(*Options)) (*HeadObjectOutput, error)
		GetObject(context.Context, *GetObjectInput, ...func(*Options)) (*GetObjectOutput, error)
		PutObject(context.Context, *PutObjectInput, ...func(*Options)) (*PutObjectOutput, error)
		ListObjectsV2(context.Context, *ListObjectsV2Input, ...func(*Options)) (*ListObjectsV2Output, error)
	}
)
