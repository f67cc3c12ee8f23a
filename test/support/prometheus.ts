import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { withDeathSignal } from '../../src/local/child.ts'
import { findPort } from '../../src/local/port.ts'
import { waitFor } from './wait.ts'

/** Says what to do about tests that are skipped. */
export const WITHOUT_PROMETHEUS = 'prometheus and promtool are missing: apt-get install prometheus'

/** Values of one series by time in seconds. */
export interface Series {
  metric: Record<string, string>
  values: [number, string][]
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>

interface Options {
  program: string
  /** Addresses, host:port, of the processes by their job. */
  jobs: Record<string, string[]>
  rules: string
  intervalSeconds: number
}

/** Starts a Prometheus of its own that watches processes and evaluates rules. */
export const startPrometheus = async (options: Options) => {
  const { program, jobs, rules, intervalSeconds } = options
  const folder = await mkdtemp(join(tmpdir(), 'kiln-prometheus-'))
  const port = await findPort()
  const interval = `${intervalSeconds}s`
  const config = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: [join(folder, 'rules.yml')],
    scrape_configs: Object.entries(jobs).map(([name, targets]) => ({
      job_name: name,
      static_configs: [{ targets }],
    })),
  }
  await writeFile(join(folder, 'rules.yml'), rules)
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const [command, ...args] = withDeathSignal('SIGKILL', [
    program,
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ])
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  const ask = async <T>(path: string, query: Record<string, string> = {}): Promise<T> => {
    const url = `http://127.0.0.1:${port}/${path}?${new URLSearchParams(query).toString()}`
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${url}: ${await response.text()}`)
    return ((await response.json()) as { data: T }).data
  }
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok
  await waitFor('Prometheus responds', () => isReady().catch(() => false))
  return {
    /** Asks for values of the last so many seconds. */
    range: async (query: string, seconds: number): Promise<Series[]> => {
      const end = Date.now() / 1000
      const times = { start: String(end - seconds), end: String(end), step: String(seconds / 120) }
      return (await ask<{ result: Series[] }>('api/v1/query_range', { query, ...times })).result
    },
    firing: async () => {
      type Alert = { state: string; labels: { alertname: string } }
      const { alerts } = await ask<{ alerts: Alert[] }>('api/v1/alerts')
      const firing = alerts.filter(({ state }) => state === 'firing')
      return firing.map(({ labels }) => labels.alertname)
    },
    stop: async () => {
      child.kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
