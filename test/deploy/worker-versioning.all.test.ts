import assert from 'node:assert/strict'
import { test } from 'node:test'

import { VERSION } from '../../src/platform/domain/release.ts'
import { makeClient } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { useService } from '../support/service.ts'
import { openTemporal } from '../support/temporal-client.ts'
import { waitFor } from '../support/wait.ts'

const service = useService({ env: { WORKER_VERSIONING: 'true' } })

test('with WORKER_VERSIONING tasks are for the version that an operator has made current', async (t) => {
  const temporal = await openTemporal(t)
  const client = makeClient(service.baseUrl, await service.token('caller'))
  const id = await client.createImage({ image: await base64() })
  const deployment = { namespace: 'default', deploymentName: 'kiln' }
  const name = `kiln.${VERSION}`
  const read = async () => {
    const { workerDeploymentInfo } =
      await temporal.workflowService.describeWorkerDeployment(deployment)
    return workerDeploymentInfo
  }
  await waitFor('the version of the workers is known', async () =>
    (await read().catch(() => undefined))?.versionSummaries?.some(
      ({ version }) => version === name,
    ),
  )
  // The core worker is there, and is given nothing.
  const waiting = await client.get(`/tasks/${id}`)
  assert.equal((waiting.body as { state?: string }).state, 'queued')
  await temporal.workflowService.setWorkerDeploymentCurrentVersion({
    ...deployment,
    version: name,
    ignoreMissingTaskQueues: true,
  })
  const ended = await client.untilEnded('image-upscaler', id)
  assert.equal(ended.status, 'COMPLETED')
})
