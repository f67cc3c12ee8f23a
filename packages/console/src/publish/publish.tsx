import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'

import { bad, ok, type Check } from '../../../client/src/cli/check-pack.ts'
import type { Project } from '../../../client/src/cli/parse-project.ts'
import { isFreeAgain } from '../../../client/src/lib/registry.ts'
import { responseOf, KilnError, patientApi, read } from '../api/client.ts'
import { serviceQuery } from '../api/queries.ts'
import { putFile } from '../api/upload.ts'
import type { Node } from '../registry/queries.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Link, publisherPage } from '../ui/link.tsx'
import { Columns, ErrorPanel, PageTitle, Panel, Row, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Bdi, Progress } from '../ui/values.tsx'
import { PackDrop } from './drop.tsx'
import { Following, Marks } from './following.tsx'
import { checkPack, toId, type Pack } from './pack.ts'
import { otherWays, PackNeeds } from './ways.tsx'

const route = getRouteApi('/publishers/$publisher/publish')

/** Takes a pack, checks it here, publishes it, and follows it. The address names what is followed, so that a reload goes on. */
export const Page = (): ReactNode => {
  const { publisher: publisherId } = route.useParams()
  const { node, version } = route.useSearch()
  const navigate = useNavigate()
  const [pack, setPack] = useState<Pack>()
  const [way, setWay] = useState('browser')
  const isFollowing = node !== undefined && version !== undefined
  const restart = (): void => {
    setPack(undefined)
    void navigate({ to: '.', search: {} })
  }
  const again = isFollowing && <Button onPress={restart}>Publish another</Button>
  const publisher = (
    <span>
      for <Link {...publisherPage(publisherId)}>{publisherId}</Link>
    </span>
  )
  const target = { publisherId, nodeId: node ?? toId(undefined) }
  const ways = {
    browser: ['Browser', <PackDrop key="browser" onPack={setPack} />],
    ...otherWays(target),
  } as const
  return (
    <>
      <PageTitle extra={publisher} actions={again}>
        {isFollowing ? `${node} ${version}` : node ? `Publish a version of ${node}` : 'Publish'}
      </PageTitle>
      {isFollowing ? (
        <Following key={`${node} ${version}`} {...{ publisherId, nodeId: node, version }} />
      ) : (
        <Columns>
          <Tabs label="Ways to publish" tabs={ways} selected={way} onSelect={setWay} />
          <Stack>
            {pack && <PackPanel publisherId={publisherId} pack={pack} />}
            {!pack?.project && <PackNeeds {...target} nodeId={node ?? toId(pack?.name)} />}
          </Stack>
        </Columns>
      )}
    </>
  )
}

/** Asks the registry about the node and the version of a pack. */
const askRegistry = async (
  { nodeId, version: { version } }: Project,
  publisherId: string,
  signal: AbortSignal,
): Promise<Check & { isNew?: true }> => {
  // Lists, because a browser reports each 404 as an error.
  const query = { node_id: [nodeId], include_banned: true }
  const { nodes } = await read('/nodes', { query }, signal)
  const node = nodes.find((one): one is Node => 'publisher' in one)
  if (!node) return { ...ok(`${nodeId} is a new pack: the ID is free`), isNew: true }
  const { publisher, latest_version: latest } = node
  const owner = publisher.id
  if (owner !== publisherId.toLowerCase())
    return bad(`${nodeId} belongs to ${owner}. Give the pack another name in pyproject.toml.`)
  const versions = await read('/nodes/{nodeId}/versions', { path: { nodeId } }, signal)
  const taken = versions.find((one) => one.version === version)
  if (taken && !isFreeAgain(taken))
    return bad(`Version ${version} exists. Raise it in pyproject.toml.`)
  return ok(`${version} is free; Latest is ${latest?.version ?? 'none'} now`)
}

const PackPanel = ({ publisherId, pack }: { publisherId: string; pack: Pack }) => {
  const navigate = useNavigate()
  const { data: service } = useQuery(serviceQuery)
  const { project } = pack
  const { data: asked, error } = useQuery({
    queryKey: ['publish', project, publisherId],
    queryFn: project ? ({ signal }) => askRegistry(project, publisherId, signal) : skipToken,
    // The same pack is asked for again after it was published.
    gcTime: 0,
  })
  const maxBytes = service?.limits.archive_bytes ?? Infinity
  const response = error ? bad(error.message) : asked
  const checks = [...checkPack(pack, { publisherId, maxBytes }), ...(response ? [response] : [])]
  const [changelog, setChangelog] = useState('')
  const [part, setPart] = useState<number>()
  const sending = useMutation({
    mutationFn: ({ signal }: AbortController) => {
      const isNew = asked?.isNew
      return sendPack(pack, { publisherId, isNew, changelog, signal, onProgress: setPart })
    },
    onMutate: () => setPart(undefined),
    onSuccess: (sent) => void navigate({ to: '.', search: sent }),
    retry: false,
  })
  const { variables: running, isPending } = sending
  useEffect(() => () => running?.abort(), [running])
  const stop = (): void => {
    running?.abort()
    sending.reset()
  }
  const isReady = response !== undefined && checks.every(({ tone }) => tone !== 'bad')
  return (
    <Panel title={<Bdi>{pack.name}</Bdi>}>
      <Marks label="Checks" of={checks.map(({ tone, text }) => ({ state: tone, text }))} />
      <TextField
        label="Changelog (optional)"
        rows={3}
        value={changelog}
        onChange={setChangelog}
        isDisabled={isPending}
      />
      {isPending && (
        <div role="status">
          <p>{aboutPart(part)}</p>
          <Progress part={part} label="Archive sent" />
        </div>
      )}
      {sending.error && <ErrorPanel error={sending.error} />}
      <Row>
        <Button
          variant="primary"
          isDisabled={!isReady}
          isPending={isPending}
          onPress={() => sending.mutate(new AbortController())}
        >
          {project ? `Publish ${project.version.version}` : 'Publish'}
        </Button>
        {isPending && <Button onPress={stop}>Stop</Button>}
      </Row>
    </Panel>
  )
}

const aboutPart = (part: number | undefined): string =>
  part === undefined ? 'Reserving the version' : `Sending the archive: ${Math.floor(part * 100)} %`

const NODES = '/publishers/{publisherId}/nodes'
const NODE = `${NODES}/{nodeId}` as const

/** Ignores an error of this code: the step was done before, and the response to it was lost. */
const unless = (code: KilnError['code'], done: Promise<unknown>) =>
  done.catch((error: unknown) => {
    if (!(error instanceof KilnError && error.code === code)) throw error
  })

interface Sending {
  publisherId: string
  isNew: boolean | undefined
  changelog: string
  signal: AbortSignal
  /** Called with the part of the archive that has gone (0 to 1), once the version is reserved. */
  onProgress(part: number): void
}

/** Publishes a pack with a token for this publication alone, and sends its archive. Returns the stored version. */
const sendPack = async ({ project, archive }: Pack, sending: Sending) => {
  if (!project) throw new Error('a pack without a project')
  const { publisherId, isNew, changelog, signal, onProgress } = sending
  const { nodeId, node, version } = project
  const { POST } = patientApi
  const at = { params: { path: { publisherId, nodeId } }, signal }
  if (isNew) await unless('node_exists', POST(NODES, { ...at, body: { ...node, id: nodeId } }))
  const { token } = await responseOf(POST(`${NODE}/publish-tokens`, at))
  const body = {
    personal_access_token: token,
    node,
    node_version: { ...version, ...(changelog && { changelog }) },
  }
  const published = await responseOf(POST(`${NODE}/versions`, { ...at, body }))
  onProgress(0)
  await unless('archive_exists', putFile(published.signedUrl, archive, { onProgress, signal }))
  return { node: nodeId, version: published.node_version.version }
}
