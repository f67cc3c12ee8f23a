import { Worker } from 'node:worker_threads'

/**
 * Starts a thread from a module of ours, named by its source file. Compiled it is the `.js` file beside; from TypeScript
 * the thread needs its own transformer, because tsx registers with the main thread only and Node 20 threads inherit no
 * module hooks.
 */
export const startThread = (source: URL): Worker => {
  if (import.meta.url.endsWith('.js'))
    return new Worker(new URL(source.href.replace(/\.ts$/, '.js')), { execArgv: [] })
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const boot = `const { register } = await import(${tsx}); register(); await import(${JSON.stringify(source.href)})`
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(boot)}`), { execArgv: [] })
}
