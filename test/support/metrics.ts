import type { Entry } from './entry.ts'

/** Returns the URL of metrics and health of a process that was started with METRICS_PORT=0. */
export const metricsUrl = ({ log }: Entry): string => {
  const ready = log.find((line) => line.includes('"metrics_port"')) ?? '{}'
  const { metrics_port: port } = JSON.parse(ready) as { metrics_port?: number }
  return `http://127.0.0.1:${port}`
}

/** Reads its metrics by name with labels, such as `kiln_waiting{what="outbox"}`. */
export const readMetrics = async (entry: Entry): Promise<Map<string, number>> => {
  const response = await fetch(`${metricsUrl(entry)}/metrics`)
  const lines = (await response.text()).split('\n').filter((line) => /^[a-z]/.test(line))
  return new Map(
    lines.map((line) => [line.replace(/ [^ ]+$/, ''), Number(/[^ ]+$/.exec(line)?.[0])]),
  )
}
