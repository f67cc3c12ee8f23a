/** Output of a command: progress goes to standard error, results to standard output, so that they can be piped. */
export interface Screen {
  /** Shows progress: a bar that redraws itself on a terminal, elsewhere a line for each new word. */
  show(what: string, percent?: number): void
  record(line: string): void
  /** The result: lines for a person, or with --json the value on one line. */
  print(lines: readonly string[], value: object): void
  close(): void
}

interface ScreenOptions {
  json: boolean
  quiet: boolean
  /** They are never written. */
  secrets: readonly string[]
}

const REDRAW_MS = 100
const CELLS = 24
const ANSI_CLEAR = '\r\u001B[2K'

export const makeScreen = (
  { stdout: out, stderr: err }: Pick<NodeJS.Process, 'stdout' | 'stderr'>,
  { json, quiet, secrets }: ScreenOptions,
): Screen => {
  const start = Date.now()
  let word = ''
  let percent: number | undefined
  let timer: NodeJS.Timeout | undefined

  const hide = (text: string): string =>
    secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '…'), text)
  const seconds = (): string => `${((Date.now() - start) / 1000).toFixed(1)} s`
  const draw = (): void => {
    err.write(`${ANSI_CLEAR}${drawBar(percent, Date.now() - start)} ${hide(word)}  ${seconds()}`)
  }
  const close = (): void => {
    if (timer) err.write(ANSI_CLEAR)
    clearInterval(timer)
    timer = undefined
  }
  const record = (line: string): void => {
    const wasDrawn = timer !== undefined
    if (wasDrawn) err.write(ANSI_CLEAR)
    err.write(`${hide(line)}\n`)
    if (wasDrawn) draw()
  }

  return {
    show: (what, newPercent) => {
      if (quiet) return
      const shown = newPercent === undefined ? what : `${what} ${Math.floor(newPercent)} %`
      const isNew = shown.replace(/\d %$/, '') !== word.replace(/\d %$/, '')
      word = shown
      percent = newPercent
      if (err.isTTY) {
        timer ??= setInterval(draw, REDRAW_MS).unref()
        draw()
      } else if (isNew) record(`${shown}  ${seconds()}`)
    },
    record: (line) => {
      if (!quiet) record(line)
    },
    print: (lines, value) => {
      close()
      out.write(`${hide(json ? JSON.stringify(value) : lines.join('\n'))}\n`)
    },
    close,
  }
}

/** A bar of the percentage; where there is none, a block that wanders. */
const drawBar = (percent: number | undefined, elapsedMs: number): string => {
  const full = percent === undefined ? 3 : Math.round((percent / 100) * CELLS)
  const left = percent === undefined ? Math.floor(elapsedMs / REDRAW_MS) % (CELLS - 2) : 0
  return `[${'·'.repeat(left)}${'█'.repeat(full)}${'·'.repeat(CELLS - left - full)}]`
}
