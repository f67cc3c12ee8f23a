package option

import "golang.org/x/oauth2"

type ClientOption struct{}

func WithTokenSource(oauth2.TokenSource) ClientOption { return ClientOption{} }
