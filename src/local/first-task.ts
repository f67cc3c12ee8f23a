import { readTemplates } from '../engines/comfyui/templates.ts'
import { fileOf } from '../engines/domain/template/fields.ts'
import type { Template } from '../engines/domain/template/template.ts'
import { IMAGE_PREFIX } from '../tasks/domain/image/image-kind.ts'
import { customName } from '../tasks/domain/custom-kind.ts'

/** A user of the development issuer, whom the console offers, too. */
export const USER = 'alice'

const SAMPLE = 'samples/thumbnail.jpg'
const TOKEN = `"$(npm run --silent kiln -- token --user ${USER})"`

/** Shows how a first task is made: of a kind that whoever started the service has added, else of the upscaler. */
export const describeFirstTask = async (url: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const template = await findOwnKind(env)
  return template ? describeRun(url, template) : describeUpscale(url)
}

/** Finds the first kind in the folder of templates; whether an instance can run it, the log says. */
const findOwnKind = async (env: NodeJS.ProcessEnv): Promise<Template | undefined> => {
  const { COMFYUI_URLS, COMFYUI_TEMPLATES: folder } = env
  if (!COMFYUI_URLS || !folder) return undefined
  const { templates } = await readTemplates(folder, { listKinds: () => Promise.resolve([]) })
  return templates.find(
    ({ kind, limits }) => kind === undefined && (limits.owners?.includes(USER) ?? true),
  )
}

const describeRun = (url: string, { name, marks, graph }: Template): string => {
  const files = new Map(
    marks.flatMap(({ name, node, input }) => {
      const media = fileOf(graph[node]?.class_type ?? '', input)
      return media ? [[name, media === 'image' ? SAMPLE : '<link of a video>'] as const] : []
    }),
  )
  const given = [...files].map(([member, file]) =>
    member === 'image' ? file : `${member}=${file}`,
  )
  const command = ['npm run --silent kiln -- run', customName(name), ...given].join(' ')
  return `export KILN_URL=${url} KILN_TOKEN=${TOKEN}\n${command}`
}

const describeUpscale = (url: string): string => {
  const upscaler = `${url}${IMAGE_PREFIX}/image-upscaler`
  return `TOKEN=${TOKEN}
curl -s ${upscaler} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d "{\\"scale_factor\\":\\"2x\\",\\"image\\":\\"$(base64 < ${SAMPLE} | tr -d '\\n')\\"}"
curl -s ${upscaler}/<task_id> -H "Authorization: Bearer $TOKEN"`
}
