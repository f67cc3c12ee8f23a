import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { describeFirstTask, USER } from '../../src/local/first-task.ts'
import { validateConfig } from '../../src/config.ts'
import { CLIP, makePortrait, makeTemplateFolder } from '../support/comfyui/custom.ts'

const URL = 'http://127.0.0.1:8080'

describe('the first task that the start of the service shows', () => {
  test('is an upscaling where nobody has added a kind', async (t) => {
    const { folder, close } = await makeTemplateFolder()
    t.after(close)
    const comfy = { COMFYUI_URLS: 'gpu1=http://127.0.0.1:8188', COMFYUI_TEMPLATES: folder }
    for (const env of [{}, { COMFYUI_TEMPLATES: folder }, comfy]) {
      const shown = await describeFirstTask(URL, env)
      assert.match(shown, /image-upscaler -H "Authorization: Bearer \$TOKEN"/)
    }
  })

  test('is one of the kind that was added, with the files that it needs', async (t) => {
    const { folder, write, remove, close } = await makeTemplateFolder()
    t.after(close)
    const env = { COMFYUI_URLS: 'gpu1=http://127.0.0.1:8188', COMFYUI_TEMPLATES: folder }
    await write('crisp', makePortrait())
    const token = `"$(npm run --silent kiln -- token --user ${USER})"`
    assert.equal(
      await describeFirstTask(URL, env),
      `export KILN_URL=${URL} KILN_TOKEN=${token}\nnpm run --silent kiln -- run crisp samples/thumbnail.jpg`,
    )
    await remove('crisp')
    await write('clip', CLIP)
    assert.match(await describeFirstTask(URL, env), /run clip clip=<link of a video>$/)
    await write('clip.map', '{"limits":{"owners":["bob"]}}')
    assert.match(await describeFirstTask(URL, env), /image-upscaler/)
  })

  test('is of a user whom the console offers', () => {
    const { config } = validateConfig({}, 'api')
    assert.ok(config.DEVELOPMENT_USERS.includes(USER))
  })
})
