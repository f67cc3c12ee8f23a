import { useMutation, useQueryClient } from '@tanstack/react-query'

import { ErrorPanel, Row, Stack } from '../ui/panels.tsx'
import { Tile } from '../ui/values.tsx'

const TYPES = 'image/png,image/jpeg,image/webp,image/avif,image/svg+xml'

interface PictureChoiceProps {
  /** In words, as `icon`. */
  name: string
  src: string | undefined
  /** Sends the file, which replaces the picture at once. */
  write(file: File): Promise<unknown>
}

/** A picture as it is now, with a choice of the file that replaces it. */
export const PictureChoice = ({ name, src, write }: PictureChoiceProps) => {
  const queries = useQueryClient()
  const sent = useMutation({
    mutationFn: write,
    onSuccess: () => void queries.invalidateQueries(),
  })
  return (
    <Stack>
      <Row>
        <Tile src={src} name={name} size={32} />
        <label className="stack tight">
          <strong>Upload {name}</strong>
          <input
            type="file"
            accept={TYPES}
            disabled={sent.isPending}
            onChange={({ target: { files } }) => files?.[0] && sent.mutate(files[0])}
          />
          <span className="soft small">PNG, JPEG, WebP, AVIF or SVG of up to 1 MiB</span>
        </label>
      </Row>
      {sent.error && <ErrorPanel error={sent.error} />}
    </Stack>
  )
}
