import { IMAGE_KINDS, IMAGE_PREFIX } from '../../src/tasks/domain/image/image-kind.ts'
import {
  DONE,
  FAILED,
  UpstreamImage,
  UpstreamVideo,
} from '../../src/tasks/domain/upstream-record.ts'
import { VIDEO_PREFIX } from '../../src/tasks/domain/video/video-path.ts'
import { VideoTaskKind } from '../../src/tasks/domain/video/video-task.ts'
import { makeList, makePage, wrap } from './markdown.ts'

/** The page of what VENDOR_IMAGE_URL and VENDOR_VIDEO_URL must speak. */
export const makeUpstreamPage = (): string =>
  makePage('What an upstream speaks', 'the kinds of tasks and the schemas of upstreams', [
    wrap(INTRO),
    '## Routes',
    makeList([
      ...Object.values(IMAGE_KINDS).map(({ kind, path, tasks }) =>
        describe(kind, path, `${tasks}/{id}`, ''),
      ),
      ...VideoTaskKind.enum.map((kind) =>
        describe(kind, `${VIDEO_PREFIX}/${kind}`, `${VIDEO_PREFIX}/tasks/{id}`, '/creations'),
      ),
    ]),
    ...BODIES.split('\n\n').map((text) => wrap(text)),
    '## Rules',
    makeList(RULES),
    '## The record of images',
    wrap(IMAGES),
    fence(UpstreamImage),
    '## The record of videos',
    wrap(VIDEOS),
    fence(UpstreamVideo),
    '## Test yours',
    wrap(TEST),
    '```bash\nKILN_UPSTREAM_KEY=key npm run kiln -- conform-upstream https://upstream.example\n```',
    wrap(TESTS),
    '```bash\nTEST_UPSTREAM_URL=https://upstream.example TEST_UPSTREAM_KEY=key npm test -- \\\n  test/tasks/http/image-task.test.ts test/tasks/http/video-task.test.ts\n```',
  ])

const describe = (kind: string, path: string, task: string, status: string): string =>
  `**${kind}**: made at \`${path}\`, read at \`${task}${status}\`, cancelled at \`${task}/cancel\``

const fence = (schema: object): string => `\`\`\`json\n${JSON.stringify(schema, null, 2)}\n\`\`\``

const words = (set: ReadonlySet<string>): string => [...set].map((word) => `\`${word}\``).join(', ')

const INTRO = `An upstream is a service that renders for Kiln: another Kiln, or whatever has these routes below its address in
VENDOR_IMAGE_URL or VENDOR_VIDEO_URL. \`|prefix=/v1\` behind the address stands for \`${IMAGE_PREFIX}\` or \`${VIDEO_PREFIX}\`. [Operations](../operations/scale.md#upstreams) says how it is set up, and what its errors do to a task. For a
server of your own, [an engine](../guides/engines-http.md) is less work.`

const BODIES = `A task is made and cancelled by POST, and read by GET. A body of a creation is that of the same route of Kiln, as \`/openapi.json\` has it, with the defaults filled in.
Images are Base64; \`wm_url\` and \`video_url\` are links that Kiln signs, below its PUBLIC_URL; \`video_creation_id\` is the id of
Kiln's task.

An upstream may take more than the interface has. Each minute Kiln reads \`/openapi.json\` below its address, with the same key: what its
document names in the JSON body of the POST on such a route, and the interface does not have, callers may send, too, while IMAGE_ENGINE, VIDEO_ENGINE or ENGINES has tasks of that kind made there. It must be as the schema there
says (type, range, choices; lists of such values), is passed on as it was given, and is in Kiln's own description. It is never
required, and its defaults are the upstream's. Files, objects and names that begin with \`kiln_\` are left out: no address of a
caller's is passed on. Without such a document, or a name in it, a member is one that nothing reads.`

const RULES = [
  'Every request has `Authorization: Bearer` with VENDOR_IMAGE_KEY or VENDOR_VIDEO_KEY.',
  'A creation has an `Idempotency-Key`, and may come several times: the same key gives the same task, whatever became of the first response. 409 with `"error": "idempotency_in_flight"` says that the first one is still being taken.',
  'A creation responds with 2xx and `task_id`, as soon as the task will outlive a restart: a status route that responds with 404 later loses the task, or has it made again under another key where `|resubmit=2` stands behind the address.',
  '408, 429 and 5xx have the request sent again, after `Retry-After` or by and by; 401, 402, 403 and every other 3xx and 4xx end the task. `message` and the texts in `details` of the body are shown to the caller.',
  'A status route responds with 200 and the record. Kiln asks after 1 s, and ever more rarely, every 15 s at least, or after `Retry-After`.',
  `A word is the state in any spelling. Done is ${words(DONE)}; failed is ${words(FAILED)}; any other runs on.`,
  'Links of results need no credential, and are fetched within 5 minutes and 200 MB each. 404 and 410 end the task; after another failure the status is asked for again, so it may have new links.',
  'A cancellation is sent once; its response does not matter.',
  'A response has 1 MiB at most, and may have more members than these.',
]

const IMAGES = `It stands in \`data\` or alone. \`generated\` has the links to the results, at least one once it is done: JPEG, PNG, WebP, AVIF,
TIFF or GIF.`

const VIDEOS = `\`creations\` has the result once it is done: a whole MP4 at \`url\` and a JPEG at \`cover_url\`. \`err_code\` is kept where it
is one of [the codes of videos](errors.md).`

const TEST = `In a checkout, a command has it do a small task of each kind, and says line by line what is right and what is wrong;
it ends with 1 where anything is. \`--kind upscale\` tries one kind, \`--prefix /v1\` other paths; \`--restart\` waits until you have
restarted it, and looks whether it still knows its tasks. A line \`note\` says which members beside the interface Kiln passes on:`

const TESTS = `The tests of the interface run against it in the place of the engines of Kiln, and say what a caller would miss:`
