import { listOf, type Client } from '../../support/client.ts'
import { waitFor } from '../../support/wait.ts'

/** A kind of a template, or of an engine by HTTP, as `GET /templates` lists it. */
export interface Listed {
  name: string
  kind: string
  path: string
  body: { required: string[]; properties: Record<string, Record<string, unknown>> }
}

export const listKinds = async (client: Client): Promise<Listed[]> =>
  listOf<Listed>(await client.get('/templates'), 'templates')

/** Waits until a kind is listed, as it is to be. */
export const untilListed = (
  client: Client,
  name: string,
  isRight: (kind: Listed) => boolean = () => true,
): Promise<Listed> =>
  waitFor(`${name} is listed`, async () =>
    (await listKinds(client)).find((kind) => kind.name === name && isRight(kind)),
  )
