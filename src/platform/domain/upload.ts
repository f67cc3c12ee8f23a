import { Type, type Static } from 'typebox'

/** Largest file that can be uploaded as an input. */
export const UPLOAD_MAX_BYTES = 536_870_912

export const NewUpload = Type.Object(
  {
    file_name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^(?!\\.{1,2}$)[^/\\\\\\u0000-\\u001f\\u007f]+$',
      description: 'Name of the file, without a folder.',
      'x-expectation': 'a file name of 1 to 255 characters without slash or control character',
    }),
    content_type: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'Recorded only: the first bytes of the file decide its type.',
      }),
    ),
    file_hash: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F]{64}$',
        'x-expectation': 'a SHA-256 of 64 hexadecimal digits',
        description:
          'SHA-256 in hex; when the caller has uploaded these bytes already, no upload is needed.',
      }),
    ),
  },
  { title: 'NewUpload' },
)
export type NewUpload = Static<typeof NewUpload>

export const UploadLinks = Type.Object(
  {
    upload_url: Type.String({ format: 'uri', description: 'PUT the bytes here.' }),
    download_url: Type.String({ format: 'uri', description: 'Give this as an image.' }),
    expires_at: Type.String({ format: 'date-time' }),
    existing_file: Type.Boolean({ description: 'True when the bytes are here already.' }),
  },
  { title: 'UploadLinks' },
)
export type UploadLinks = Static<typeof UploadLinks>
