import { makeEngineOf, type TaskConfig } from '../../tasks/settings.ts'
import { TEMPLATE_KINDS } from '../domain/template/fields.ts'

/** Lists the kinds that the settings of a process send to ComfyUI. */
export const listComfyKinds = (config: TaskConfig): string[] => {
  const engineOf = makeEngineOf(config)
  return TEMPLATE_KINDS.filter((kind) => engineOf(kind) === 'comfyui')
}
