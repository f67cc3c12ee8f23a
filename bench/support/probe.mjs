// Loaded into a process that is measured: prints twice a second how long its event loop was blocked at most, and its
// greatest memory, both since the start.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const delay = monitorEventLoopDelay({ resolution: 5 })
// The start of the process is not what is measured.
setTimeout(() => delay.enable(), 5000).unref()
let peak = 0
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 20).unref()
setInterval(() => {
  process.stderr.write(`${JSON.stringify({ probe: { blockMs: delay.max / 1e6, rss: peak } })}\n`)
}, 500).unref()
