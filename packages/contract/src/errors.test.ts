import { describe, expect, it } from 'vitest'
import { errorBlocks, errors } from './errors.ts'

/** Section 8 of the specification, as far as we answer them. */
const specified = [
  0, 1101, 1111, 1120, 1121, 1122, 1124, 1134, 1135, 1136, 1182, 1183, 1184, 2293, 3000, 3001, 3006, 3041, 8805, 8809, 9000, 12005, 12006, 12906, 24007, 24008,
  24011, 24014, 24018, 24044, 24047, 24048, 26004, 26012, 26018, 99999,
]

describe('numbers of errors', () => {
  const blocks = Object.entries(errorBlocks).flatMap(([family, ranges]) => ranges.map(([from, to]) => ({ family, from, to })))
  const codes = Object.values(errors).map(({ code }) => code)

  it('are each one family’s', () => {
    for (const one of blocks) {
      expect(one.from, one.family).toBeLessThanOrEqual(one.to)
      for (const other of blocks) if (other !== one) expect(one.to < other.from || other.to < one.from, `${one.family} and ${other.family}`).toBe(true)
    }
    for (const code of codes)
      expect(
        blocks.filter(({ from, to }) => from <= code && code <= to),
        String(code),
      ).toHaveLength(1)
  })

  it('are given once', () => expect(new Set(codes).size).toBe(codes.length))

  it('are ours wherever the specification gave none', () => {
    const given = errorBlocks.specification
    expect(codes.filter((code) => given.some(([from, to]) => from <= code && code <= to)).toSorted((one, other) => one - other)).toEqual(specified)
  })
})

/** What the table of section 8 says of each code. */
const meanings: Readonly<Record<number, string>> = {
  0: '成功',
  1101: '用户名或密码错误',
  1122: '用户名或密码错误',
  1111: '用户名无效',
  1120: '旧密码错误',
  1121: '验证码错误',
  1124: '未授权',
  1134: '未激活',
  1135: '禁用',
  1136: '密码错误次数过多，账号已冻结，请五分钟后再试',
  1182: '临时锁定',
  1183: '邀请链接无效',
  1184: '注册功能未开放',
  3000: '无操作权限',
  3001: '项目名称已存在',
  3006: '项目下存在用户',
  3041: '角色名称已存在',
  8805: '节点数量',
  8809: '核心数量',
  12005: '维护中',
  12006: '已下线',
  12906: '节点资源不足',
  24011: '余额不足，请充值',
  24018: '余额不足，请充值',
  24007: '未定价',
  24008: '百分比折扣必须在0到1之间',
  24014: '充值金额不能低于0',
  24044: '订单已过期',
  24047: '请输入正确的汇款码',
  24048: '汇款码已过期',
  26004: '已绑定供应商',
  26012: '已分账',
  26018: '供应商已被禁用，不能继续分账',
  99999: '错误',
}

describe('texts of errors', () => {
  const byCode = new Map(Object.values(errors).map((entry) => [entry.code, entry]))

  it.each(Object.entries(meanings))('%i says %s', (code, meaning) => expect(byCode.get(Number(code))?.text).toContain(meaning))

  it('of 2293 is that the repository password is set first; 9000 is only what the server says', () => {
    expect(byCode.get(2293)?.text).toBe('请先设置仓库密码')
    expect(byCode.get(9000)?.text).toBe('{message}')
  })

  it('are there for each code, in Chinese', () => {
    for (const { code, text } of byCode.values()) if (code !== 9000) expect(text, String(code)).toMatch(/\p{Script=Han}/u)
  })
})
