import { ACCOUNT_COMMANDS } from './account-commands.ts'
import { BULK_COMMANDS } from './bulk-commands.ts'
import { take } from './context.ts'
import type { Command } from './context.ts'
import { mcp } from './mcp.ts'
import { PACK_COMMANDS, watchVersion } from './pack-commands.ts'
import { REQUEST_COMMAND } from './request-command.ts'
import { cancelTask, listTemplates, TASK_COMMANDS, watchTask } from './task-commands.ts'
import { SEARCH_COMMAND } from './search-command.ts'
import { UPLOAD_COMMAND } from './upload-command.ts'
import { USAGE_COMMAND } from './usage-command.ts'
import { VERSION_COMMANDS } from './version-commands.ts'
import { WORKFLOW_COMMANDS } from './workflow-commands.ts'

/** The commands by their names. */
export const COMMANDS: Record<string, Command> = {
  ...TASK_COMMANDS,
  templates: {
    usage: '',
    summary: 'lists the templates of the service, and what each takes',
    help: [],
    options: {},
    run: listTemplates,
  },
  watch: {
    usage: '<task id>|<pack>@<version> [-o <file>]',
    summary: 'follows a task or a version to its end',
    help: ['-o, --output  saves what the task has made'],
    options: { output: { type: 'string', short: 'o' } },
    run: async (context) => {
      const [id = ''] = take(context, 'id')
      const [, node, version] = /^(.+)@(.+)$/.exec(id) ?? []
      return await (node && version ? watchVersion(context, node, version) : watchTask(context, id))
    },
  },
  cancel: {
    usage: '<task id>',
    summary: 'cancels a task that has not ended',
    help: [],
    options: {},
    run: cancelTask,
  },
  upload: UPLOAD_COMMAND,
  usage: USAGE_COMMAND,
  ...ACCOUNT_COMMANDS,
  ...BULK_COMMANDS,
  search: SEARCH_COMMAND,
  ...PACK_COMMANDS,
  ...VERSION_COMMANDS,
  ...WORKFLOW_COMMANDS,
  mcp,
  request: REQUEST_COMMAND,
}
