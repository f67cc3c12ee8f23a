package workercomponent

import "go.uber.org/fx"

// Module has no workflow that starts workers.
var Module = fx.Options()
