import { expectStatus, type Client, type HttpResponse } from '../../support/client.ts'
import { JOB, useIdentityIssuer } from '../../support/identity-issuer.ts'
import type { Owned, UsedRegistry } from './registry-support.ts'

/** A node that trusts the jobs of one workflow of one repository. */
export interface Trusting {
  owned: Owned
  nodeId: string
  path: string
  trust(fields?: object): Promise<HttpResponse>
  exchange(identity: string, client?: Client): Promise<HttpResponse>
  token(claims?: Record<string, unknown>): Promise<string>
}

export const CLAIMS = {
  repository_id: JOB.repository_id,
  workflow_file: '.github/workflows/publish.yml',
}

/** An issuer whose jobs ask for the audience of the registry, and nodes that trust them. */
export const useTrusting = (registry: UsedRegistry) => {
  const ci = useIdentityIssuer()
  registry.prepare(async () => {
    ci.audience = new URL(registry.service.baseUrl).host
    return await Promise.resolve()
  })

  const addNode = async (owned?: Owned): Promise<Trusting> => {
    const owner = owned ?? (await registry.addPublisher())
    return toCome(owner, await owner.addNode())
  }

  const toCome = (owner: Owned, nodeId: string): Trusting => {
    const path = `${owner.path}/nodes/${nodeId}`
    const exchange: Trusting['exchange'] = (identity, client = registry.anonymous) =>
      client.post(`${path}/token-exchange`, { identity_token: identity })
    return {
      owned: owner,
      nodeId,
      path,
      exchange,
      trust: (fields) =>
        owner.owner.post(`${path}/trusted-publishers`, {
          provider: 'github',
          issuer: ci.issuer,
          claims: CLAIMS,
          ...fields,
        }),
      token: async (claims) => {
        const response = expectStatus(await exchange(await ci.sign(claims)), 201)
        return String(response.body['token'])
      },
    }
  }

  const addTrusting = async (fields?: object): Promise<Trusting> => {
    const node = await addNode()
    expectStatus(await node.trust(fields), 201)
    return node
  }

  return { ci, addNode, addTrusting, toCome }
}
