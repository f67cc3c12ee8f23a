import { setTimeout as sleep } from 'node:timers/promises'

import {
  context,
  diag,
  DiagLogLevel,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Attributes, Context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

import type { Log } from '../log.ts'

/** Options of a span. No attribute holds a URL, a credential or a text of a caller. */
export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'internal'
  /** The `traceparent` of what caused it; without it the span under way, else it begins a trace. */
  parent?: string | undefined
  attributes?: Attributes
}

export interface OpenSpan {
  /** Does work under the span: spans that are opened by it are its children. */
  run<T>(work: () => T): T
  end(result: { name?: string; attributes?: Attributes; isError: boolean }): void
}

/** Records spans and sends them to a collector. It is imported only where there is one. */
export interface Tracing {
  open(name: string, options: SpanOptions): OpenSpan
  /** Does work in a span of its own, which ends with it. */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>
  /** `traceparent` of the span under way, by W3C Trace Context. */
  current(): string | undefined
  /** Sends what was not yet sent, for a second at most. */
  stop(): Promise<void>
}

/**
 * Starts to record. The SDK reads its own settings (`OTEL_…`) from the environment. It keeps the span under way in an
 * AsyncLocalStorage, whose price on Node 20 only those pay who trace.
 */
export const startTracing = (service: string, log: Log): Tracing => {
  const note = (message: string): void => log.warn({ tracing: message }, 'spans were not sent')
  const logger = { error: note, warn: note, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, DiagLogLevel.ERROR)
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const tracer = provider.getTracer('kiln')

  const open: Tracing['open'] = (name, { kind, parent, attributes = {} }) => {
    const within = parent === undefined ? context.active() : readTraceparent(parent)
    const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, within)
    return {
      run: (work) => context.with(trace.setSpan(within, span), work),
      end: ({ name: last = name, attributes: more = {}, isError }) => {
        span.updateName(last).setAttributes(more)
        if (isError) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }
  return {
    open,
    // The words of an error may hold values, so that no span has them.
    span: async (name, options, work) => {
      const { run, end } = open(name, options)
      let isError = true
      try {
        const result = await run(work)
        isError = false
        return result
      } finally {
        end({ isError })
      }
    },
    current: () => {
      const found = trace.getSpanContext(context.active())
      return found && `00-${found.traceId}-${found.spanId}-0${found.traceFlags & 1}`
    },
    stop: async () => {
      await Promise.race([provider.shutdown().catch(silent), sleep(1000)])
    },
  }
}

const silent = (): void => {}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
}

/** Reads a `traceparent`; any other text counts as absent. */
const readTraceparent = (text: string): Context => {
  const [, traceId = '', spanId = '', flags = ''] =
    /^[0-9a-e][0-9a-f]-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(text) ?? []
  const remote = { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT
}
