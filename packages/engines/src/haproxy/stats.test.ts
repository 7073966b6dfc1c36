import { describe, expect, it } from 'vitest'
import { readStats } from './stats.ts'

const head =
  '# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,act,bck,chkfail,chkdown,lastchg,downtime,qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,rate_max,check_status,check_code,check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,req_rate,req_rate_max,req_tot,cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,lastsess,last_chk,'

describe('statistics of HAProxy', () => {
  it('are read by the names of their columns, commas and quotes in cells included', () => {
    const server =
      'port-1,target-2,0,0,3,9,,50,1200,3400,,0,,0,0,0,0,DOWN 1/3,100,1,0,2,1,7,7,,1,2,1,,50,,2,4,,9,L7STS,503,1,0,50,0,0,0,0,,,,,0,0,,,,,1,"HTTP status: ""503"", not OK",'
    expect(readStats(`${head}\n${server}\n`)).toEqual([
      {
        proxy: 'port-1',
        server: 'target-2',
        status: 'DOWN 1/3',
        sessions: 3,
        rate: 4,
        bytesIn: 1_200,
        bytesOut: 3_400,
        weight: 100,
        changed: 7,
        check: 'L7STS',
        checkCode: 503,
        said: 'HTTP status: "503", not OK',
      },
    ])
  })

  it('are refused where they are something else', () => {
    expect(() => readStats('<html>')).toThrow('no statistics')
  })
})
