import { Worker } from 'node:worker_threads'

/**
 * Starts the thread that renders. Compiled it is a `.js` file like any other; from TypeScript source the thread needs its
 * own transformer, because tsx registers with the main thread only and Node 20 threads inherit no module hooks.
 */
export const startRenderThread = (): Worker => {
  if (import.meta.url.endsWith('.js'))
    return new Worker(new URL('./render-thread.js', import.meta.url), { execArgv: [] })
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const entry = JSON.stringify(new URL('./render-thread.ts', import.meta.url).href)
  const boot = `const { register } = await import(${tsx}); register(); await import(${entry})`
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(boot)}`), { execArgv: [] })
}
