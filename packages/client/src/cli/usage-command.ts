import { responseOf } from '../lib/http.ts'
import { text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT } from './error.ts'

const showUsage = async (context: Context): Promise<number> => {
  const { kiln, screen, signal, values } = context
  const label = text(values, 'label')?.replace('=', ':')
  const query = {
    by: text(values, 'by') ?? 'day',
    ...Object.fromEntries(OPTIONAL.flatMap((name) => pairOf(name, text(values, name)))),
    ...(label !== undefined && { label: [label] }),
  }
  if (values['csv'] === true) {
    const asked = { params: { query }, headers: { accept: 'text/csv' }, signal } as const
    process.stdout.write(await responseOf(kiln.routes.GET('/usage', { ...asked, parseAs: 'text' })))
    return EXIT.done
  }
  const usage = await kiln.usage(query, { signal })
  const groups = usage.groups.map(({ name, ...sums }) => ({ ...sums, group: name ?? sums.group }))
  const rows = [...groups, { group: 'total', ...usage.total }]
  const width = Math.max(...rows.map(({ group }) => group.length), usage.by.length)
  const head = [usage.by.padEnd(width), ...COLUMNS].join('  ')
  const lines = rows.map(({ group, tasks, credits, engine_seconds: seconds, running }) => {
    const { done, failed, cancelled } = tasks
    const cells = [
      done,
      failed,
      cancelled,
      credits,
      seconds,
      running.p50 ?? '-',
      running.p95 ?? '-',
    ]
    const shown = cells.map((cell, at) => String(cell).padStart(COLUMNS[at]?.length ?? 0))
    return [group.padEnd(width), ...shown].join('  ')
  })
  screen.print([head, ...lines], usage)
  return EXIT.done
}

const COLUMNS = ['  done', 'failed', 'cancelled', 'credits', 'seconds', 'p50 run', 'p95 run']

const OPTIONAL = ['from', 'to', 'owner'] as const

const pairOf = (name: string, value: string | undefined) =>
  value === undefined ? [] : [[name, value] as const]

export const USAGE_COMMAND: Command = {
  usage: '[--by day|kind|key|label:<key>|owner] [options]',
  summary: 'reports what your ended tasks have used',
  help: [
    '--from, --to  first and last UTC day; absent: the last 30 days',
    '--label       key=value: only tasks with this label',
    '--owner       of platform admins: whose tasks, or * for those of all',
    '--csv         all columns as CSV',
  ],
  options: {
    by: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    label: { type: 'string' },
    owner: { type: 'string' },
    csv: { type: 'boolean' },
  },
  run: showUsage,
}
