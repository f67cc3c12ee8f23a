module google.golang.org/api
