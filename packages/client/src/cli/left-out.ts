/** Files and folders that no pack needs or that must never be published: patterns of names, and why each is left out. */
const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/^(\.git|\.hg|\.svn)$/, 'version control'],
  [
    /^(__pycache__|\..+_cache|node_modules|\.?venv|.+\.pyc|\.DS_Store|Thumbs\.db)$/,
    'made by tools',
  ],
  [/^\.env(\.(?!example$|sample$).*)?$|^\.netrc$|^\.pypirc$|^id_(rsa|ed25519)$|\.pem$/, 'secrets'],
]

/** Why a file or folder of this name is not published; undefined of one that is. */
export const whyLeftOut = (name: string): string | undefined =>
  LEFT_OUT.find(([form]) => form.test(name))?.[1]
