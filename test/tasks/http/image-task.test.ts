import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import sharp from 'sharp'

import type { TaskDetail } from '../../../src/tasks/domain/task-item.ts'
import { ROOT } from '../../../src/local/root.ts'
import { IMAGE_API, UPSCALE, assertMembers, columnsOf, pluck } from '../../support/client.ts'
import { useCollector } from '../../support/collector.ts'
import { metricsUrl, readMetrics } from '../../support/metrics.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { runFieldClient } from '../../platform/http/field-client.ts'

const CREATIONS = [
  ['image-relight', 'image-relight', { prompt: 'warm light from the left' }, 1, 'png'],
  ['image-upscaler', 'image-upscaler', { scale_factor: '2x' }, 2, 'jpeg'],
  ['image-upscaler-precision-v2', 'image-upscaler-precision-v2', { scale_factor: 3 }, 3, 'png'],
  ['skin-enhancer/flexible', 'skin-enhancer', { optimized_for: 'improve_lighting' }, 1, 'png'],
  ['skin-enhancer/creative', 'skin-enhancer', {}, 1, 'jpeg'],
  ['skin-enhancer/faithful', 'skin-enhancer', { skin_detail: 20 }, 1, 'png'],
] as const

const dashboard = await readFile(join(ROOT, 'deploy/grafana/kiln.json'), 'utf8')
/** Metrics of Temporal's SDK that the dashboard asks for, with a label. */
const OF_SDK = [...dashboard.matchAll(/(temporal_\w+)\{(\w+=\\"\w+)/g)].map(
  ([, name = '', label = '']) => [name, label.replace('\\', '')] as const,
)
const collector = await useCollector()
const operations = await readFile(join(ROOT, 'docs/operations/run.md'), 'utf8')

describe('an image task', () => {
  const service = useService({
    env: {
      // A render that is silent for longer counts as lost, and a second attempt would show.
      OVERRIDE_HEARTBEAT_SECONDS: '600',
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  })
  const alice = service.client('alice')

  for (const [path, family, settings, factor, format] of CREATIONS)
    test(`a client as they are in the field gets its picture from ${path}`, async () => {
      const { baseUrl } = service
      const image = await makePicture({ width: 24, height: 20, format })
      const token = await service.token('field')
      const made = await runFieldClient({ baseUrl, token, path, family, image, format, settings })
      const extension = format === 'jpeg' ? 'jpg' : format
      assert.match(made.link, new RegExp(`/result-1\\.${extension}\\?expires=\\d+&signature=`))
      assert.equal(made.type, `image/${format}`)
      assertMembers(made.metadata, { format, width: 24 * factor, height: 20 * factor })
    })

  const FORMATS = [
    ['png', undefined, 'png', 'png'],
    ['jpeg', 80, 'jpg', 'jpeg'],
    ['webp', 80, 'webp', 'webp'],
    ['auto', undefined, 'png', 'png'],
  ] as const
  for (const [format, quality, extension, found] of FORMATS)
    test(`gets results as ${format} where the request says so`, async () => {
      // Its transparency would make it a PNG.
      const image = await sharp({
        create: { width: 20, height: 10, channels: 4, background: '#f008' },
      })
        .webp()
        .toBuffer()
      const wish = {
        kiln_output_format: format,
        ...(quality && { kiln_output_quality: quality }),
      }
      const body = { image: image.toString('base64'), ...wish }
      const id = await alice.createImage(body)
      const { generated } = await alice.untilEnded('image-upscaler', id)
      assert.match(generated[0] ?? '', new RegExp(`/result-1\\.${extension}\\?`))
      const response = await fetch(generated[0] ?? '')
      assert.equal(response.headers.get('content-type'), `image/${found}`)
      const picture = sharp(Buffer.from(await response.arrayBuffer()))
      const { format: real, width } = await picture.metadata()
      assert.deepEqual([real, width], [found, 40])
      const task = (await alice.get(`/tasks/${id}`)).body as unknown as TaskDetail
      assertMembers(task.request.body, wish)
    })

  test('warns of a quality without a format where the result is a PNG', async () => {
    const image = await base64({ width: 20, height: 10 })
    const warning = '/kiln_output_quality takes no effect: result-1.png is PNG, which loses nothing'
    const isLocal = !('TEST_UPSTREAM_URL' in process.env)
    const { data } = (await alice.create(UPSCALE, { image, kiln_output_quality: 50 })).body
    assert.deepEqual(data.warnings, isLocal ? [warning] : undefined)
    const task = await alice.untilEnded('image-upscaler', data.task_id)
    assert.deepEqual(task.warnings, [warning])
    const jpeg = await makePicture({ width: 20, height: 10, format: 'jpeg' })
    const id = await alice.createImage({
      image: jpeg.toString('base64'),
      kiln_output_quality: 50,
    })
    assert.equal((await alice.untilEnded('image-upscaler', id)).warnings, undefined)
  })

  test('rejects a quality of what loses nothing, and formats that no result has', async () => {
    const image = await base64({ width: 20, height: 10 })
    for (const [wish, field] of [
      [
        { kiln_output_format: 'png', kiln_output_quality: 50 },
        /^\/kiln_output_quality must be absent/,
      ],
      [{ kiln_output_format: 'gif' }, /^\/kiln_output_format must be one of png, jpeg, webp, auto/],
      [{ kiln_output_quality: 0 }, /^\/kiln_output_quality must be a whole number from 1 to 100/],
    ] as const) {
      const { status, body } = await alice.post(UPSCALE, { image, ...wish })
      assert.equal(status, 400)
      assert.match(body.details?.[0] ?? '', field)
    }
  })

  test('an image task shows how it went, with a small picture of its result', async () => {
    const image = await base64({ width: 400, height: 200 })
    const id = await alice.createImage({ image })
    await alice.untilEnded('image-upscaler', id)
    const task = (await alice.get(`/tasks/${id}`)).body as unknown as TaskDetail
    assert.deepEqual([task.state, task.progress, task.cancellable], ['done', 100, false])
    assert.deepEqual(pluck(task.moves, 'state'), ['waiting', 'running', 'done'])
    assert.deepEqual(columnsOf(task.attempts, 'number', 'outcome', 'ended_at'), [
      [1, 'done', task.ended_at],
    ])
    const at = (ms: number): string => new Date(Date.parse(task.created_at) + ms).toISOString()
    const before = [
      { n: 0, at: at(0), failed_at: at(1), error: 'put_back' },
      { n: 0, at: at(2) },
    ]
    // A task that was put back has moved the time from which its deadlines count.
    await service.sql`
      update task set attempts = ${service.sql.json(before)} || attempts,
        claimed_at = claimed_at + interval '1 hour'
      where id = ${id}
    `
    const { attempts, started_at: startedAt } = (await alice.get(`/tasks/${id}`))
      .body as unknown as TaskDetail
    const [last] = task.attempts
    assert.deepEqual(columnsOf(attempts, 'outcome', 'started_at', 'ended_at'), [
      ['put_back', at(0), at(1)],
      ['lost', at(2), last?.started_at],
      ['done', last?.started_at, task.ended_at],
    ])
    assert.equal(startedAt, at(0))
    assert.ok(!('error' in (attempts[0] ?? {})))
    const [result] = task.results
    assert.deepEqual([result?.name, result?.width, result?.height], ['result-1.png', 800, 400])
    const small = await fetch(task.thumbnail_url ?? '')
    assert.equal(small.headers.get('content-type'), 'image/webp')
    const { width, height } = await sharp(Buffer.from(await small.arrayBuffer())).metadata()
    assert.deepEqual([width, height], [256, 128])
    const [{ bytes }] = (await service.sql`
      select stored_bytes::integer as bytes from task where id = ${id}
    `) as unknown as [{ bytes: number }]
    const files = (await service.listFiles()).filter((key) => key.includes(id))
    assert.ok(files.some((key) => key.endsWith('/thumbnail.webp')))
    assert.ok(bytes > (task.inputs[0]?.bytes ?? 0) + (result?.bytes ?? 0))
    await fetch(task.inputs[0]?.url ?? '').then(({ status }) => assert.equal(status, 200))
  })

  test('an image task shows in the metrics of each process, by labels that nobody makes up', async (t) => {
    if ('TEST_UPSTREAM_URL' in process.env) return t.skip('no engine of its own renders')
    const id = await alice.createImage({
      image: await base64(),
      webhook_url: 'http://127.0.0.1:9/hooked?secret=1',
    })
    await alice.untilEnded('image-upscaler', id)
    await fetch(`${service.baseUrl}/nodes/made-up-${id}/${id}?a=${id}`, { method: 'PURGE' })
    await fetch(`${service.baseUrl}/made-up-${id}`)
    const [api, core, media] = [service.entry('api'), service.entry('core'), service.entry('media')]
    const read = async (entry = api, name: string): Promise<number> =>
      (await readMetrics(entry)).get(name) ?? 0
    const shown = [
      [api, 'kiln_task_duration_seconds_count{kind="upscale",end="done"}'],
      [
        api,
        `kiln_http_request_duration_seconds_count{method="POST",route="${IMAGE_API}/image-upscaler",status="2xx"}`,
      ],
      [api, 'kiln_http_request_duration_seconds_count{method="other",route="none",status="4xx"}'],
      [api, 'kiln_dependency_up{dependency="postgres"}'],
      [api, 'kiln_queue_pollers{queue="media"}'],
      [api, 'kiln_db_pool_connections{state="limit"}'],
      [core, 'kiln_webhook_attempt_duration_seconds_count{class="connect"}'],
      [media, 'kiln_engine_seconds_per_megapixel_count{kind="upscale"}'],
      [media, 'kiln_store_operation_duration_seconds_count{operation="putFiles",outcome="ok"}'],
      [media, 'kiln_store_free_bytes'],
      [media, 'nodejs_eventloop_lag_p99_seconds'],
    ] as const
    for (const [entry, name] of shown)
      await waitFor(name, async () => (await read(entry, name)) > 0)
    for (const entry of [api, core, media]) {
      const names = [...(await readMetrics(entry)).keys()]
      assert.deepEqual(
        names.filter((name) => /alice|made-up|secret|hooked|[0-9a-f]{8}-[0-9a-f]{4}-/.test(name)),
        [],
      )
      assert.ok(names.length < 3000, String(names.length))
      for (const [own = ''] of names
        .join('\n')
        .matchAll(/^kiln_[a-z_]+?(?=_bucket|_count|_sum|\{|$)/gm))
        assert.ok(operations.includes(`\`${own}\``), own)
      // The SDK's own, which no registry of the code has.
      for (const [name, label] of entry === api ? [] : OF_SDK)
        assert.ok(
          names.some((one) => one.startsWith(`${name}{`) && one.includes(`,${label}`)),
          name,
        )
      const health = await fetch(`${metricsUrl(entry)}/health`)
      assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }])
    }
  })

  test('is one trace from its creation to its receiver, with nothing of its own in it', async () => {
    const traceId = 'a'.repeat(32)
    const created = await alice.post(
      `${IMAGE_API}/image-upscaler`,
      { image: await base64(), webhook_url: `${collector.url}/hooked?secret=1` },
      { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
    )
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const wanted = [
      `POST ${IMAGE_API}/image-upscaler`,
      'start imageTask',
      'renderImageTask',
      'send the webhook',
    ]
    const ofTrace = () => collector.spans().filter((span) => span.traceId === traceId)
    await waitFor('its spans', () =>
      Promise.resolve(wanted.every((name) => ofTrace().some((span) => span.name === name))),
    )
    const spans = ofTrace()
    const parentOf = ({ parentSpanId }: { parentSpanId?: string }) =>
      spans.find(({ spanId }) => spanId === parentSpanId)?.name ?? parentSpanId
    const parents = new Map(spans.map((span) => [span.name, parentOf(span)]))
    assert.deepEqual(
      wanted.map((name) => parents.get(name)),
      ['b'.repeat(16), wanted[0], wanted[1], wanted[0]],
    )
    const traceparent = collector.webhooks().at(-1)?.['traceparent'] ?? ''
    assert.match(String(traceparent), new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
    const lastSpan = spans.findLast(({ name }) => name === 'send the webhook')
    assert.ok(lastSpan)
    assert.doesNotMatch(JSON.stringify(spans), /secret|alice|127\.0\.0\.1|Bearer|ey[JK]/)
  })
})
