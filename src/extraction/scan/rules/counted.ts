import type { Hit } from '../hit.ts'
import { isFetch } from '../source/origin-names.ts'
import type { SourceFile } from '../source/source-file.ts'

/** network, native-call: ordinary in packs, only counted. */
export const findCounted = (file: SourceFile): Hit[] =>
  file.calls.flatMap(({ call, names }): Hit[] => {
    if (names.some(isNetwork)) return [{ rule: 'network', path: file.path, line: call.line }]
    if (names.some(isNative)) return [{ rule: 'native-call', path: file.path, line: call.line }]
    return []
  })

const isNetwork = (name: string): boolean => isFetch(name) || DOWNLOADS.has(name)

const DOWNLOADS = new Set([
  'gdown.download',
  'huggingface_hub.hf_hub_download',
  'huggingface_hub.snapshot_download',
  'requests.delete',
  'requests.head',
  'requests.patch',
  'socket.create_connection',
  'socket.socket',
  'torch.hub.download_url_to_file',
  'torch.hub.load_state_dict_from_url',
  'urllib.request.Request',
  'urllib.request.urlretrieve',
  'websocket.create_connection',
  'wget.download',
])

const isNative = (name: string): boolean =>
  /^(?:ctypes\.(?:C|Py|Win|Ole)DLL|ctypes\.(?:cdll|windll|oledll|pydll)\b.*|cffi\.FFI\(\)\.dlopen)$/.test(
    name,
  )
