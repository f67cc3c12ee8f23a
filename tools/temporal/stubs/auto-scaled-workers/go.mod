module go.temporal.io/auto-scaled-workers
