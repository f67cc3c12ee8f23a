// Package storage has no client: an archiver in Google's storage cannot be made.
package storage

import (
	"context"
	"errors"
	"io"

	"google.golang.org/api/option"
)

const ScopeFullControl = ""

func NewClient(context.Context, ...option.ClientOption) (*Client, error) {
	return nil, errors.New("this server is built without Google's storage")
}

type (
	Client       struct{ buckets }
	BucketHandle struct{ bucket }
	ObjectHandle struct{ object }
	Reader       struct{ io.ReadCloser }
	Writer       struct{ writer }

	BucketAttrs struct{}
	ObjectAttrs struct{ Name string }
	Query       struct{ Prefix string }

	buckets interface{ Bucket(name string) *BucketHandle }
	bucket  interface {
		Attrs(context.Context) (*BucketAttrs, error)
		Object(name string) *ObjectHandle
		Objects(context.Context, *Query) objects
	}
	object interface {
		Attrs(context.Context) (*ObjectAttrs, error)
		NewReader(context.Context) (*Reader, error)
		NewWriter(context.Context) *Writer
	}
	objects interface{ Next() (*ObjectAttrs, error) }
	writer  interface {
		io.WriteCloser
		CloseWithError(error) error
	}
)
