import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState, type ReactNode } from 'react'

import { answerOf, KilnError, patientApi } from '../api/client.ts'
import { serviceQuery } from '../api/queries.ts'
import { putFile } from '../api/upload.ts'
import { nodeQuery, versionQuery } from '../registry/queries.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/fields.tsx'
import { Link, publisherPage } from '../ui/link.tsx'
import { ErrorPanel, PageTitle, Panel, Row, Stack } from '../ui/panels.tsx'
import { Bdi, Progress } from '../ui/values.tsx'
import { PackDrop } from './drop.tsx'
import { Checks, Following } from './following.tsx'
import { bad, checkPack, ok, type Check, type Pack } from './pack.ts'

const route = getRouteApi('/publishers/$publisher/publish')

/** Takes a pack, checks it here, publishes it, and follows it. The address names what is followed, so that a reload goes on. */
export const Page = (): ReactNode => {
  const { publisher: publisherId } = route.useParams()
  const { node, version } = route.useSearch()
  const navigate = useNavigate()
  const [pack, setPack] = useState<Pack>()
  const isFollowing = node !== undefined && version !== undefined
  const restart = (): void => {
    setPack(undefined)
    void navigate({ to: '.', search: {} })
  }
  return (
    <>
      <PageTitle
        extra={
          <span>
            for <Link {...publisherPage(publisherId)}>{publisherId}</Link>
          </span>
        }
        actions={isFollowing && <Button onPress={restart}>Publish another</Button>}
      >
        {isFollowing ? `${node} ${version}` : 'Publish'}
      </PageTitle>
      {isFollowing ? (
        <Following key={`${node} ${version}`} {...{ publisherId, nodeId: node, version }} />
      ) : (
        <Stack>
          <PackDrop onPack={setPack} />
          {pack && <PackPanel publisherId={publisherId} pack={pack} />}
        </Stack>
      )}
    </>
  )
}

const isMissing = (error: unknown): boolean =>
  error instanceof KilnError && ['node_not_found', 'version_not_found'].includes(error.code)

/** What the registry says of the node and the version; undefined while it is asked. */
const useRegistryCheck = ({ project }: Pack, publisherId: string) => {
  const { nodeId = '', version: { version = '' } = {} } = project ?? {}
  const enabled = project !== undefined
  const node = useQuery({ ...nodeQuery(nodeId), enabled, staleTime: 0 })
  const taken = useQuery({
    ...versionQuery(nodeId, version),
    enabled: enabled && node.data !== undefined,
    staleTime: 0,
  })
  const isNewNode = isMissing(node.error)
  const fault = [node.error, taken.error].find((error) => error !== null && !isMissing(error))
  const judge = (): Check | undefined => {
    if (fault) return bad(fault.message)
    if (isNewNode) return ok(`${nodeId} is a new node: the id is free`)
    if (!node.data) return undefined
    const { publisher, latest_version: latest } = node.data
    if (publisher.id.toLowerCase() !== publisherId.toLowerCase())
      return bad(
        `${nodeId} belongs to ${publisher.id}. Give the node another name in pyproject.toml.`,
      )
    if (taken.data) return bad(`The version ${version} exists. Raise it in pyproject.toml.`)
    if (!taken.error) return undefined
    return ok(`${version} is free; installs get ${latest?.version ?? 'nothing'} now`)
  }
  return { check: judge(), isNewNode }
}

const PackPanel = ({ publisherId, pack }: { publisherId: string; pack: Pack }) => {
  const navigate = useNavigate()
  const { data: service } = useQuery(serviceQuery)
  const { check, isNewNode } = useRegistryCheck(pack, publisherId)
  const mostBytes = service?.limits?.archive_bytes ?? Infinity
  const checks = [...checkPack(pack, { publisherId, mostBytes }), ...(check ? [check] : [])]
  const [changelog, setChangelog] = useState('')
  const [part, setPart] = useState<number>()
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  const sending = useMutation({
    mutationFn: () => {
      const { signal } = (abort.current = new AbortController())
      setPart(undefined)
      return sendPack({ publisherId, pack, isNewNode, changelog, signal, onProgress: setPart })
    },
    onSuccess: (sent) => void navigate({ to: '.', search: sent }),
    retry: false,
  })
  const stop = (): void => {
    abort.current?.abort()
    sending.reset()
  }
  const isReady = check !== undefined && checks.every(({ tone }) => tone !== 'bad')
  return (
    <Panel title={<Bdi>{pack.name}</Bdi>}>
      <Checks checks={checks} />
      <TextField
        label="What has changed (optional)"
        rows={3}
        value={changelog}
        onChange={setChangelog}
        isDisabled={sending.isPending}
      />
      {sending.isPending && (
        <div role="status">
          <p>
            {part === undefined
              ? 'Reserving the version'
              : `Sending the archive: ${Math.floor(part * 100)} %`}
          </p>
          <Progress part={part} label="Archive sent" />
        </div>
      )}
      {sending.error && <ErrorPanel error={sending.error} />}
      <Row>
        <Button
          look="primary"
          isDisabled={!isReady}
          isPending={sending.isPending}
          onPress={() => sending.mutate()}
        >
          {pack.project ? `Publish ${pack.project.version.version}` : 'Publish'}
        </Button>
        {sending.isPending && <Button onPress={stop}>Stop</Button>}
      </Row>
    </Panel>
  )
}

const NODES = '/publishers/{publisherId}/nodes'
const NODE = `${NODES}/{nodeId}` as const

/** What is done where it has been done already: the answer to it was lost. */
const unless = async (code: KilnError['code'], done: Promise<unknown>): Promise<void> => {
  await done.catch((error: unknown) => {
    if (!(error instanceof KilnError && error.code === code)) throw error
  })
}

interface Sending {
  publisherId: string
  pack: Pack
  isNewNode: boolean
  changelog: string
  signal: AbortSignal
  /** Told of the part of the archive that has gone, once the version is reserved. */
  onProgress(part: number): void
}

/** Publishes a pack with a token for this publication alone, and sends its archive. Answers the version as it is stored. */
const sendPack = async ({
  publisherId,
  pack: { project, archive },
  isNewNode,
  changelog,
  signal,
  onProgress,
}: Sending): Promise<{ node: string; version: string }> => {
  if (!project) throw new Error('a pack without a project')
  const { nodeId, node, version } = project
  const { POST } = patientApi
  const at = { params: { path: { publisherId, nodeId } }, signal }
  if (isNewNode) await unless('node_exists', POST(NODES, { ...at, body: { ...node, id: nodeId } }))
  const { token } = await answerOf(POST(`${NODE}/publish-tokens`, at))
  const body = {
    personal_access_token: token,
    node,
    node_version: { ...version, ...(changelog !== '' && { changelog }) },
  }
  const published = await answerOf(POST(`${NODE}/versions`, { ...at, body }))
  onProgress(0)
  await unless('archive_exists', putFile(published.signedUrl, archive, { onProgress, signal }))
  return { node: nodeId, version: published.node_version.version }
}
