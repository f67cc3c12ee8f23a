import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import escape from 'escape-html'
import sharp from 'sharp'

import { ROOT } from '../../src/local/root.ts'
import { findChromium, startChromium } from '../../test/support/browser.ts'
import { startPrometheus, WITHOUT_PROMETHEUS } from '../../test/support/prometheus.ts'
import { findProgram } from '../../test/support/run-program.ts'
import type { Prometheus, Series } from '../../test/support/prometheus.ts'

interface Panel {
  title: string
  type: 'stat' | 'timeseries'
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string; legendFormat: string }[]
  fieldConfig: {
    defaults: { unit: string; thresholds?: { steps: { value: number | null }[] } }
  }
}

const CELL = { width: 60, height: 34 }
const COLOURS = [
  '#2f6fd0',
  '#d9822b',
  '#2a9d6f',
  '#c23b4b',
  '#7b5bd6',
  '#8a8f98',
  '#0f9bb5',
  '#b08800',
]

const show = (value: number, unit: string): string => {
  if (unit === 'percentunit') return `${(value * 100).toFixed(1)} %`
  if (unit === 'bytes')
    return value > 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${Math.round(value / 1e6)} MB`
  if (unit === 's') return value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`
  return `${Number(value.toPrecision(3))}${unit === 'reqps' ? '/s' : ''}`
}

const nameOf = (format: string, { metric }: Series): string =>
  format.replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => metric[label] ?? '')

interface Line {
  name: string
  points: [number, number][]
}

const readLines = async (
  prometheus: Prometheus,
  { targets }: Panel,
  seconds: number,
): Promise<Line[]> => {
  const found = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const query = expr.replaceAll('$__rate_interval', '30s')
      return (await prometheus.range(query, seconds)).map((series) => ({
        name: nameOf(legendFormat, series),
        points: series.values.map(([at, value]): [number, number] => [at, Number(value)]),
      }))
    }),
  )
  return found.flat().map((line) => ({
    ...line,
    points: line.points.filter(([, value]) => Number.isFinite(value)),
  }))
}

const drawStat = ({ fieldConfig: { defaults } }: Panel, lines: Line[]): string => {
  const value = lines[0]?.points.at(-1)?.[1]
  const limit = defaults.thresholds?.steps.at(-1)?.value ?? Infinity
  const colour = value !== undefined && value >= limit ? '#c23b4b' : '#2a9d6f'
  return `<text x="16" y="92" font-size="38" fill="${colour}">${value === undefined ? 'no data' : show(value, defaults.unit)}</text>`
}

const drawLines = ({ fieldConfig, gridPos }: Panel, lines: Line[]): string => {
  const { unit } = fieldConfig.defaults
  const [width, height] = [gridPos.w * CELL.width - 90, gridPos.h * CELL.height - 96]
  const points = lines.flatMap((line) => line.points)
  if (points.length === 0) return '<text x="16" y="60" fill="#888">no data</text>'
  const [first, last] = [
    Math.min(...points.map(([at]) => at)),
    Math.max(...points.map(([at]) => at)),
  ]
  const top = Math.max(...points.map(([, value]) => value)) || 1
  const place = ([at, value]: [number, number]): string =>
    `${(70 + ((at - first) / (last - first || 1)) * width).toFixed(1)},${(40 + height - (value / top) * height).toFixed(1)}`
  const axis = [0, 0.5, 1].map((part) => {
    const y = 40 + height - part * height
    return `<path d="M70 ${y}h${width}" stroke="#e3e6ea"/><text x="64" y="${y + 4}" text-anchor="end" font-size="11" fill="#667">${show(top * part, unit)}</text>`
  })
  // Routes are long.
  const columns = lines.some(({ name }) => name.length > 22) ? 2 : 3
  const drawn = lines.slice(0, 8).map(
    ({ name, points }, index) =>
      `<polyline points="${points.map(place).join(' ')}" fill="none" stroke="${COLOURS[index]}" stroke-width="2"/>
      <text x="${70 + (index % columns) * (width / columns)}" y="${40 + height + 18 + Math.floor(index / columns) * 14}" font-size="11" fill="${COLOURS[index]}">${escape(name.slice(-32))}</text>`,
  )
  return axis.join('') + drawn.join('')
}

const draw = (panel: Panel, lines: Line[]): string => {
  const { x, y, w, h } = panel.gridPos
  return `<g transform="translate(${x * CELL.width},${y * CELL.height})">
    <rect x="4" y="4" width="${w * CELL.width - 8}" height="${h * CELL.height - 8}" rx="6" fill="#fff" stroke="#d5d9df"/>
    <text x="16" y="26" font-size="14" font-weight="600" fill="#223">${escape(panel.title)}</text>
    ${panel.type === 'stat' ? drawStat(panel, lines) : drawLines(panel, lines)}</g>`
}

/**
 * Draws the panels of the dashboard by its own queries, of what the service on this machine does for so many seconds from
 * now. It was started with METRICS_PORT `port`.
 */
export const drawDashboard = async (port: number, seconds: number): Promise<void> => {
  const program = findProgram('prometheus')
  if (program === undefined) throw new Error(WITHOUT_PROMETHEUS)
  const at = (place: number): string[] => [`127.0.0.1:${port + place}`]
  const prometheus = await startPrometheus({
    program,
    jobs: { 'kiln-api': at(0), 'kiln-core': at(1), 'kiln-media': at(2) },
    rules: await readFile(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8'),
    intervalSeconds: 5,
  })
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const { panels } = JSON.parse(await readFile(join(ROOT, 'deploy/grafana/kiln.json'), 'utf8')) as {
    panels: Panel[]
  }
  const parts = await Promise.all(
    panels.map(async (panel) => draw(panel, await readLines(prometheus, panel, seconds))),
  )
  await prometheus.stop()
  const height = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) * CELL.height
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1440" height="${height}" font-family="sans-serif"><rect width="100%" height="100%" fill="#f3f5f7"/>${parts.join('')}</svg>`
  const browser = await startChromium(findChromium() ?? '')
  const page = await browser.newPage({ viewport: { width: 1440, height } })
  await page.setContent(`<body style="margin:0">${svg}</body>`)
  const picture = await sharp(await page.screenshot())
    .webp({ quality: 82 })
    .toBuffer()
  await writeFile(join(ROOT, 'docs/pictures/dashboard.webp'), picture)
  await browser.close()
}
