{{- define "kiln.name" -}}
{{- if contains "kiln" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-kiln" .Release.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "kiln.labels" -}}
app.kubernetes.io/name: kiln
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Labels that select the pods of one part: (list . "api"). */}}
{{- define "kiln.selector" -}}
app.kubernetes.io/name: kiln
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "kiln.account" -}}
{{- if .Values.serviceAccount.create -}}{{ .Values.serviceAccount.name | default (include "kiln.name" .) }}{{- else -}}{{ .Values.serviceAccount.name | default "default" }}{{- end -}}
{{- end -}}

{{- define "kiln.image" -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{- else -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{/* Settings that every process takes from the Secret, and those that media workers, who read hostile files, are not given. */}}
{{- define "kiln.servers" -}}DATABASE_URL DATABASE_DIRECT_URL S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY TEMPORAL_API_KEY OUTBOUND_PROXY{{- end -}}
{{- define "kiln.keys" -}}TEMPORAL_DATABASE_URL SIGNING_KEYS SECRETS_KEYS WEBHOOK_DEFAULT_SECRET EXTRACTION_TOKEN GITHUB_TOKEN VENDOR_IMAGE_KEY VENDOR_VIDEO_KEY COMFYUI_TOKEN ENGINES_HTTP_TOKENS{{- end -}}
{{- define "kiln.required" -}}DATABASE_URL SIGNING_KEYS SECRETS_KEYS WEBHOOK_DEFAULT_SECRET{{- end -}}

{{/* Environment of one part: (list . "api"). */}}
{{- define "kiln.env" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $names := splitList " " (include "kiln.servers" $root) -}}
{{- if ne $part "media" -}}{{- $names = concat $names (splitList " " (include "kiln.keys" $root)) -}}{{- end -}}
{{- $required := splitList " " (include "kiln.required" $root) -}}
{{- range $names }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $root.Values.secrets.name }}
      key: {{ . }}
      optional: {{ not (has . $required) }}
{{- end }}
{{- if or (eq $part "core") (eq $part "media") }}
- name: WORKER_ROLE
  value: {{ $part }}
{{- end }}
{{- if eq $part "media" }}
- name: MEDIA_SLOTS
  value: {{ $root.Values.media.slots | quote }}
{{- end }}
{{- with (index $root.Values $part).env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What each container of one part has: (list . "api" "dist/src/api.js"), with arguments behind the file. */}}
{{- define "kiln.container" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $own := index $root.Values $part -}}
image: {{ include "kiln.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
command: {{ prepend (splitList " " (index . 2)) "node" | toJson }}
envFrom:
  - configMapRef: { name: {{ include "kiln.name" $root }} }
env: {{- include "kiln.env" (list $root $part) | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
resources: {{- toYaml $own.resources | nindent 2 }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: files, mountPath: /var/lib/kiln }
  {{- if $root.Values.storageClaim }}
  - { name: storage, mountPath: /var/lib/kiln/storage }
  {{- end }}
  {{- if $root.Values.secrets.temporalTls }}
  - { name: temporal-tls, mountPath: /etc/kiln/temporal, readOnly: true }
  {{- end }}
  {{- with $own.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Pod of one part: (list . "api" "dist/src/api.js"). */}}
{{- define "kiln.pod" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $file := index . 2 -}}
{{- $own := index $root.Values $part -}}
{{- $earlier := get (dict "media" "core" "api" "core media") $part -}}
serviceAccountName: {{ include "kiln.account" $root }}
automountServiceAccountToken: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- if $earlier }}
{{- /* In the order of an upgrade: a new pod begins when no worker of an earlier release lives that goes before it. */}}
initContainers:
  - name: await-workers
    {{- include "kiln.container" (list $root $part (printf "dist/src/await-workers.js %s" $earlier)) | nindent 4 }}
{{- end }}
containers:
  - name: {{ $part }}
    {{- include "kiln.container" (list $root $part $file) | nindent 4 }}
    {{- if ne $part "migrate" }}
    ports:
      {{- if eq $part "api" }}
      - { name: http, containerPort: 8080 }
      {{- end }}
      - { name: metrics, containerPort: 9464 }
    startupProbe:
      httpGet: { path: /health, port: metrics }
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /health, port: metrics }
      periodSeconds: 10
      timeoutSeconds: 3
      failureThreshold: 6
    {{- if eq $part "api" }}
    readinessProbe:
      httpGet: { path: /ready, port: http }
      periodSeconds: 5
      timeoutSeconds: 3
    {{- end }}
    {{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  - name: files
    emptyDir: {{ if eq $part "media" }}{ sizeLimit: {{ $root.Values.media.scratchSize }} }{{ else }}{}{{ end }}
  {{- if $root.Values.storageClaim }}
  - name: storage
    persistentVolumeClaim: { claimName: {{ $root.Values.storageClaim }} }
  {{- end }}
  {{- if $root.Values.secrets.temporalTls }}
  - name: temporal-tls
    secret: { secretName: {{ $root.Values.secrets.temporalTls }}, defaultMode: 0440 }
  {{- end }}
  {{- with $own.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $own.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Deployment of one part: (list . "api" "dist/src/api.js" seconds). */}}
{{- define "kiln.deployment" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $own := index $root.Values $part -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "kiln.name" $root }}-{{ $part }}
  labels: {{- include "kiln.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $part }}
spec:
  {{- if not $own.autoscaling.enabled }}
  replicas: {{ $own.replicas }}
  {{- end }}
  selector:
    matchLabels: {{- include "kiln.selector" (list $root $part) | nindent 6 }}
  {{- if ne $part "core" }}
  {{- /* A pod that waits for its turn is no failure. */}}
  progressDeadlineSeconds: {{ $root.Values.migrate.deadline }}
  {{- end }}
  {{- if eq $part "core" }}
  {{- /* All at once: one by one, workflows would be run by old and new code in turns. */}}
  strategy: { type: Recreate }
  {{- else }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  {{- end }}
  template:
    metadata:
      labels: {{- include "kiln.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $part }}
        {{- with $own.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        checksum/settings: {{ include "kiln.settings" $root | sha256sum }}
        {{- with $own.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      terminationGracePeriodSeconds: {{ index . 3 }}
      {{- include "kiln.pod" (list $root $part (index . 2)) | nindent 6 }}
      {{- if $own.affinity }}
      affinity: {{- toYaml $own.affinity | nindent 8 }}
      {{- else }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "kiln.selector" (list $root $part) | nindent 14 }}
      {{- end }}
{{- end -}}

{{/* Settings of every process. */}}
{{- define "kiln.settings" -}}
{{- $fixed := dict "NODE_ENV" "production" "HOST" "0.0.0.0" "PORT" "8080" "METRICS_HOST" "0.0.0.0" "METRICS_PORT" "9464" "STORAGE_PATH" "/var/lib/kiln/storage" "SCRATCH_PATH" "/var/lib/kiln/scratch" -}}
{{- if .Values.secrets.temporalTls -}}
{{- $tls := dict "TEMPORAL_TLS_SERVER_CA_CERT_PATH" "/etc/kiln/temporal/ca.crt" "TEMPORAL_TLS_CLIENT_CERT_PATH" "/etc/kiln/temporal/tls.crt" "TEMPORAL_TLS_CLIENT_KEY_PATH" "/etc/kiln/temporal/tls.key" -}}
{{- $fixed = merge $fixed $tls -}}
{{- end -}}
{{- $needed := list "PUBLIC_URL" "TEMPORAL_ADDRESS" "TRUST_PROXY" -}}
{{- if ne (toString .Values.settings.AUTH) "builtin" -}}{{- $needed = concat $needed (list "AUTH_ISSUER" "AUTH_AUDIENCE" "AUTH_JWKS_URL") -}}{{- end -}}
{{- range $name := $needed -}}
{{- if not (index $.Values.settings $name) -}}{{- fail (printf "settings.%s is absent: docs/reference/settings.md says what it is" $name) -}}{{- end -}}
{{- end -}}
{{- $secret := concat (splitList " " (include "kiln.servers" .)) (splitList " " (include "kiln.keys" .)) -}}
{{- range $name, $value := .Values.settings -}}
{{- if has $name $secret -}}{{- fail (printf "settings.%s belongs into the Secret %s, not into values" $name $.Values.secrets.name) -}}{{- end -}}
{{- if hasKey $fixed $name -}}{{- fail (printf "settings.%s is set by the chart: leave it out" $name) -}}{{- end -}}
{{- end -}}
{{- if and (ne (toString .Values.settings.STORAGE) "s3") (not .Values.storageClaim) -}}{{- fail "settings.STORAGE must be s3, or storageClaim name a claim that all pods share" -}}{{- end -}}
{{- if and (eq (toString .Values.settings.STORAGE) "s3") (not .Values.settings.S3_BUCKET) -}}{{- fail "settings.S3_BUCKET is absent: files are to lie in it" -}}{{- end -}}
{{- range $name, $value := merge $fixed .Values.settings }}
{{- if ne (toString $value) "" }}
{{ $name }}: {{ if kindIs "float64" $value }}{{ printf "%.0f" $value | quote }}{{ else }}{{ toString $value | quote }}{{ end }}
{{- end }}
{{- end }}
{{- end -}}
