{{- define "kafka-lag.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "kafka-lag.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kafka-lag.labels" -}}
{{ include "kafka-lag.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "kafka-lag.loginSecret" -}}
{{- if and .Values.clientProperties .Values.existingSecret }}
{{- fail "clientProperties and existingSecret are two logins: leave one out." }}
{{- end }}
{{- if .Values.existingSecret }}{{ .Values.existingSecret }}
{{- else if .Values.clientProperties }}{{ include "kafka-lag.name" . }}{{ end }}
{{- end }}
