import type { Variable } from './stack.ts'

/** A template to begin with: it runs wherever its image is on the node already, or can be pulled. What people read of it, the console says. */
export interface Starter {
  readonly compose: string
  readonly variables: readonly (Omit<Variable, 'label'> & { readonly name: StarterVariable })[]
}
export type StarterVariable = 'IMAGE' | 'PORT' | 'PASSWORD' | 'DATABASE' | 'TOKEN' | 'MODEL'

const image = (named: string): Starter['variables'][number] => ({ name: 'IMAGE', type: 'text', required: true, default: named, choices: [] })
const port = (number: number): Starter['variables'][number] => ({ name: 'PORT', type: 'port', required: true, default: String(number), choices: [] })
const asked = (name: StarterVariable, type: 'text' | 'password', fallback: string | null = null): Starter['variables'][number] => ({
  name,
  type,
  required: true,
  default: fallback,
  choices: [],
})

export const starters = {
  nginx: {
    compose: `services:
  web:
    image: \${IMAGE}
    restart: unless-stopped
    ports: ["\${PORT}:80"]
    volumes: ["html:/usr/share/nginx/html"]
volumes:
  html:
`,
    variables: [image('nginx:1.27'), port(8080)],
  },
  postgresql: {
    compose: `services:
  db:
    image: \${IMAGE}
    restart: unless-stopped
    environment:
      POSTGRES_PASSWORD: \${PASSWORD}
      POSTGRES_DB: \${DATABASE}
    ports: ["\${PORT}:5432"]
    volumes: ["data:/var/lib/postgresql/data"]
    healthcheck:
      test: ["CMD", "pg_isready", "-U", "postgres"]
      interval: 10s
volumes:
  data:
`,
    variables: [image('postgres:17'), port(5432), asked('PASSWORD', 'password'), asked('DATABASE', 'text', 'app')],
  },
  redis: {
    compose: `services:
  redis:
    image: \${IMAGE}
    restart: unless-stopped
    command: ["redis-server", "--requirepass", "\${PASSWORD}", "--appendonly", "yes"]
    ports: ["\${PORT}:6379"]
    volumes: ["data:/data"]
volumes:
  data:
`,
    variables: [image('redis:7.4'), port(6379), asked('PASSWORD', 'password')],
  },
  jupyter: {
    compose: `services:
  notebook:
    image: \${IMAGE}
    restart: unless-stopped
    environment:
      JUPYTER_TOKEN: \${TOKEN}
    ports: ["\${PORT}:8888"]
    volumes: ["work:/home/jovyan/work"]
volumes:
  work:
`,
    variables: [image('quay.io/jupyter/minimal-notebook:python-3.12'), port(8888), asked('TOKEN', 'password')],
  },
  // Models lie in a volume of the node: nothing is fetched from outside.
  vllm: {
    compose: `services:
  llm:
    image: \${IMAGE}
    restart: unless-stopped
    command: ["--model", "/models/\${MODEL}", "--served-model-name", "\${MODEL}", "--api-key", "\${TOKEN}"]
    environment:
      HF_HUB_OFFLINE: "1"
    ports: ["\${PORT}:8000"]
    volumes: ["models:/models"]
    shm_size: 2gb
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: all
              capabilities: [gpu]
volumes:
  models:
`,
    variables: [image('vllm/vllm-openai:v0.8.5'), port(8000), asked('MODEL', 'text'), asked('TOKEN', 'password')],
  },
} as const satisfies Readonly<Record<string, Starter>>
export type StarterKey = keyof typeof starters
export const starterKeys = Object.keys(starters) as readonly StarterKey[]
