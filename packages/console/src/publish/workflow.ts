interface Target {
  url: string
  publisherId: string
  nodeId: string
  environment: string | undefined
}

/** A workflow of GitHub Actions that publishes tagged versions without a stored token. */
export const writeWorkflow = ({
  url,
  publisherId,
  nodeId,
  environment,
}: Target): string => `name: Publish
on:
  push:
    tags: ['v*']
permissions: {}
jobs:
  publish:
    runs-on: ubuntu-latest${environment ? `\n    environment: ${environment}` : ''}
    permissions:
      contents: read
      id-token: write
    env:
      NODE_URL: ${url}/publishers/${publisherId}/nodes/${nodeId}
    steps:
      - uses: actions/checkout@v5
      - run: zip -qr "$RUNNER_TEMP/node.zip" . --exclude '.git/*' '.github/*'
      - name: Publish
        run: |
          set -euo pipefail
          post() { curl -sS --retry 5 --fail-with-body --json @- "$@"; }
          audience=$(jq -nr --arg url "$NODE_URL" '$url | split("/")[2] | @uri')
          identity=$(curl -sS --fail -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
            "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=$audience" | jq -r .value)
          echo "::add-mask::$identity"
          token=$(jq -n --arg t "$identity" '{identity_token: $t}' | post "$NODE_URL/token-exchange" | jq -r .token)
          echo "::add-mask::$token"
          link=$(jq -n --arg t "$token" --arg v "\${GITHUB_REF_NAME#v}" \\
            '{personal_access_token: $t, node: {}, node_version: {version: $v}}' |
            post "$NODE_URL/versions" | jq -r .signedUrl)
          curl -sS --fail-with-body -T "$RUNNER_TEMP/node.zip" -H 'Content-Type: application/zip' "$link"
`
