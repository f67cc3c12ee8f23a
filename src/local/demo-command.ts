import { join } from 'node:path'

import { runDemo } from './demo.ts'
import { startDemoEngine } from './demo-engine.ts'
import { listenForInterrupt, type Interrupt } from './interrupt.ts'
import { startStack, type Stack } from './stack.ts'
import { INTERRUPTED, announceStop, describeStack, say, serveUntilInterrupted } from './start.ts'
import { drawWorkflowTree } from './workflow-tree.ts'

export interface DemoCommandOptions {
  /** Folder of the embedded stacks; the demonstration has one of its own in it. */
  dataDir: string
  /** Leaves the stack running until it is interrupted. */
  keep: boolean
}

/** Runs the demonstration against KILN_URL, or against a stack it starts; the exit code is 0 only when every job succeeded. */
export const runDemoCommand = async ({ dataDir, keep }: DemoCommandOptions): Promise<number> => {
  const interrupt = listenForInterrupt(announceStop)
  const outDir = join(dataDir, 'demo', 'output')
  try {
    const baseUrl = process.env['KILN_URL']
    return baseUrl
      ? await demonstrateElsewhere(baseUrl, outDir, interrupt)
      : await demonstrateHere({ dataDir, keep }, outDir, interrupt)
  } catch (error) {
    if (interrupt.stop.aborted) return INTERRUPTED
    throw error
  }
}

const demonstrateElsewhere = async (
  baseUrl: string,
  outDir: string,
  interrupt: Interrupt,
): Promise<number> => {
  const token = process.env['KILN_TOKEN']
  if (!token)
    throw new Error('KILN_URL is set: set KILN_TOKEN to a bearer token or API key of it, too')
  const { stop: signal } = interrupt
  return (await runDemo({ baseUrl, token, outDir, out: process.stdout, signal })) ? 0 : 1
}

const demonstrateHere = async (
  { dataDir, keep }: DemoCommandOptions,
  outDir: string,
  interrupt: Interrupt,
): Promise<number> => {
  const engine = await startDemoEngine()
  const stack = await startStack({
    dataDir: join(dataDir, 'demo'),
    issuerDir: dataDir,
    env: process.env,
    settings: { OVERRIDE_OUTBOUND_ALLOW_LOOPBACK: 'true', ...engine.settings },
    say,
    interrupt,
  }).catch(async (error: unknown) => {
    await engine.stop()
    throw error
  })
  try {
    const hasEngine = 'ENGINES_HTTP' in engine.settings
    const succeeded = await demonstrate({ stack, hasEngine }, outDir, interrupt)
    if (keep) {
      say(await describeStack(stack, 'Ctrl-C stops it all.'))
      await serveUntilInterrupted(stack, interrupt)
    } else say(NEXT)
    return succeeded ? 0 : 1
  } finally {
    await stack.stop()
    await engine.stop()
  }
}

const NEXT = `
The stack stops now, and the workflow pages with it; \`npm run demo -- --keep\` keeps both.

Next:
  npm start                     keeps the same service running, with a console on port 8080
  docs/guides/first-task.md     sends a task of your own, by curl, TypeScript or Python
  docs/comfyui.md               renders on your ComfyUI machines
  docs/guides/engines-http.md   renders by a function of yours
  docs/guides/publishing.md     publishes a pack in the registry`

const demonstrate = async (
  { stack, hasEngine }: { stack: Stack; hasEngine: boolean },
  outDir: string,
  interrupt: Interrupt,
): Promise<boolean> => {
  const { temporal } = stack
  return await runDemo({
    baseUrl: stack.url,
    token: await stack.token('demo'),
    temporalUi: stack.ui === undefined ? undefined : `${stack.ui}/namespaces/${temporal.namespace}`,
    killWorker: () => {
      const pid = stack.pids()['worker-media']
      if (pid === undefined) throw new Error('worker-media is not running')
      process.kill(pid, 'SIGKILL')
      return pid
    },
    hasEngine,
    drawTree: (workflowId) => drawWorkflowTree({ temporal, workflowId }),
    outDir,
    out: process.stdout,
    signal: interrupt.stop,
  })
}
