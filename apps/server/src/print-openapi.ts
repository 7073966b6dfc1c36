import '@zhisuan/contract/validation'
import { readConfig } from './platform/config.ts'
import { openApi } from './platform/http/openapi.ts'

process.stdout.write(`${JSON.stringify(openApi(readConfig({}).version))}\n`)
