module cloud.google.com/go/storage
