/**
 * The error catalogue: every refusal that the API knows, with its code, HTTP status and Chinese
 * text. The specification's codes (section 8) keep their numbers; ours start with 9 in five
 * digits and are grouped by family. Nothing answers a code that is not here.
 */
export interface ErrorEntry {
  readonly code: number
  /** HTTP status of the answer. */
  readonly status: number
  /** Chinese text for people. `{name}` is filled from the error's `values`. */
  readonly text: string
}

const catalogue = <const T extends Record<string, ErrorEntry>>(entries: T): { readonly [K in keyof T]: ErrorEntry } => entries

export const errors = catalogue({
  success: { code: 0, status: 200, text: '成功' },

  // ums: users and sessions
  passwordMismatch: { code: 1101, status: 401, text: '用户名或密码错误' },
  usernameInvalid: { code: 1111, status: 400, text: '用户名无效' },
  oldPasswordInvalid: { code: 1120, status: 400, text: '旧密码错误' },
  verificationCodeInvalid: { code: 1121, status: 400, text: '验证码错误或已失效' },
  credentialsMismatch: { code: 1122, status: 401, text: '用户名或密码错误' },
  userUnauthorised: { code: 1124, status: 403, text: '用户未授权' },
  userNotActivated: { code: 1134, status: 401, text: '用户未激活' },
  userDisabled: { code: 1135, status: 401, text: '用户已被禁用' },
  userFrozen: { code: 1136, status: 401, text: '密码错误次数过多，账号已冻结，请五分钟后再试' },
  temporarilyLocked: { code: 1182, status: 401, text: '账号已被临时锁定' },
  invitationInvalid: { code: 1183, status: 400, text: '邀请链接无效' },
  registrationClosed: { code: 1184, status: 400, text: '注册功能未开放' },

  // projects, roles
  noPermission: { code: 3000, status: 403, text: '无操作权限' },
  projectNameTaken: { code: 3001, status: 400, text: '项目名称已存在' },
  projectHasUsers: { code: 3006, status: 400, text: '项目下存在用户' },
  roleNameTaken: { code: 3041, status: 400, text: '角色名称已存在' },

  repositoryPasswordUnset: { code: 2293, status: 400, text: '请先设置仓库密码' },

  // licence
  licenceNodesExceeded: { code: 8805, status: 400, text: '超出许可证允许的节点数量' },
  licenceCoresExceeded: { code: 8809, status: 400, text: '超出许可证允许的核心数量' },

  serverMessage: { code: 9000, status: 400, text: '{message}' },

  // clouds, instances
  cloudMaintenance: { code: 12005, status: 400, text: '云平台维护中，暂不可操作' },
  cloudOffline: { code: 12006, status: 400, text: '云平台已下线' },
  nodeResourcesInsufficient: { code: 12906, status: 400, text: '节点资源不足' },

  // billing
  balanceInsufficient: { code: 24011, status: 400, text: '余额不足，请充值' },
  balanceInsufficientForOrder: { code: 24018, status: 400, text: '余额不足，请充值' },
  productNotPriced: { code: 24007, status: 400, text: '产品未定价' },
  discountOutOfRange: { code: 24008, status: 400, text: '百分比折扣必须在0到1之间' },
  chargeNegative: { code: 24014, status: 400, text: '充值金额不能低于0' },
  orderExpired: { code: 24044, status: 400, text: '订单已过期' },
  remittanceCodeWrong: { code: 24047, status: 400, text: '请输入正确的汇款码' },
  remittanceCodeExpired: { code: 24048, status: 400, text: '汇款码已过期' },

  // revenue split
  providerAccountBound: { code: 26004, status: 400, text: '该账号已绑定供应商' },
  periodAlreadySplit: { code: 26012, status: 400, text: '该周期已分账' },
  providerDisabled: { code: 26018, status: 400, text: '供应商已被禁用，不能继续分账' },

  unknown: { code: 99999, status: 500, text: '错误' },

  // 90xxx: the API itself
  fieldsInvalid: { code: 90001, status: 400, text: '提交的内容有误，请检查标出的字段' },
  bodyMalformed: { code: 90002, status: 400, text: '请求内容不是有效的JSON' },
  bodyTooLarge: { code: 90003, status: 413, text: '请求内容过大' },
  mediaTypeUnsupported: { code: 90004, status: 415, text: '不支持的内容类型' },
  callUnknown: { code: 90005, status: 404, text: '接口不存在' },
  notFound: { code: 90006, status: 404, text: '对象不存在或已被删除' },
  tokenMissing: { code: 90007, status: 401, text: '请先登录' },
  tokenInvalid: { code: 90008, status: 401, text: '登录已失效，请重新登录' },
  tooManyRequests: { code: 90009, status: 429, text: '操作过于频繁，请{seconds}秒后再试' },
  stateForbids: { code: 90010, status: 409, text: '当前状态不允许此操作' },
  operationRunning: { code: 90011, status: 409, text: '该对象有正在进行的操作，请等待完成后再试' },
  changedMeanwhile: { code: 90012, status: 409, text: '内容已被其他人修改，请刷新后重试' },
  serverStopping: { code: 90013, status: 503, text: '服务正在重启，请稍后再试' },
  databaseUnavailable: { code: 90014, status: 503, text: '数据服务暂不可用，请稍后再试' },
  pathUndefined: { code: 90015, status: 400, text: '请求地址无效' },
  requestInvalid: { code: 90016, status: 400, text: '请求格式有误' },

  // 91xxx: identity
  initialPasswordUnchanged: { code: 91001, status: 403, text: '请先修改初始密码' },
  usernameTaken: { code: 91002, status: 400, text: '用户名已被使用' },
  phoneTaken: { code: 91003, status: 400, text: '手机号已被使用' },
  emailTaken: { code: 91004, status: 400, text: '邮箱已被使用' },
  phoneUnknown: { code: 91005, status: 400, text: '该手机号未注册' },
  passwordUnchanged: { code: 91006, status: 400, text: '新密码不能与旧密码相同' },
  userSelfDelete: { code: 91007, status: 400, text: '不能删除当前登录的用户' },
  lastAdministrator: { code: 91008, status: 400, text: '不能删除最后一个平台管理员' },
  verificationUndelivered: { code: 91009, status: 502, text: '验证码发送失败，请稍后再试' },
  registrationPending: { code: 91010, status: 401, text: '注册申请待审核' },
  refreshInvalid: { code: 91011, status: 401, text: '登录已过期，请重新登录' },
  organisationNameTaken: { code: 91013, status: 400, text: '组织名称已存在' },
  organisationFrozen: { code: 91012, status: 401, text: '所属组织已被冻结' },

  // 92xxx: licence and configuration
  licenceExpired: { code: 92001, status: 400, text: '许可证已过期，部分操作受限' },
  licenceSignatureInvalid: { code: 92002, status: 400, text: '许可证签名无效' },
  licenceMalformed: { code: 92003, status: 400, text: '许可证内容格式有误' },
  licenceAlreadyExpired: { code: 92004, status: 400, text: '该许可证已过期，不能导入' },
  licenceForOther: { code: 92005, status: 400, text: '该许可证不属于本平台' },
  configValueInvalid: { code: 92006, status: 400, text: '配置项的值无效' },

  // 93xxx: clouds and engines
  cloudNameTaken: { code: 93001, status: 400, text: '云平台名称已存在' },
  cloudUnreachable: { code: 93002, status: 502, text: '无法连接云平台，请检查地址和网络' },
  cloudUnauthorised: { code: 93003, status: 502, text: '云平台拒绝了凭据，请检查证书或账号' },
  cloudNotEmpty: { code: 93004, status: 400, text: '云平台上还有{count}个实例，请先清理或选择强制删除' },
  cloudProductUnsupported: { code: 93005, status: 400, text: '暂不支持该类型的云平台' },
  engineFailed: { code: 93006, status: 502, text: '云平台执行失败，请稍后再试；若仍失败，请联系平台管理员' },
  engineAnswerInvalid: { code: 93007, status: 502, text: '云平台返回了无法识别的内容' },
  engineUnsupported: { code: 93008, status: 400, text: '该云平台不支持此操作' },
  cloudIdentityTaken: { code: 93009, status: 400, text: '该云平台已被登记为“{name}”' },

  // 94xxx: instances
  vmNameTaken: { code: 94001, status: 400, text: '实例名称已存在' },
  vmTypeUnavailable: { code: 94002, status: 400, text: '该云平台不能运行此类型的实例' },
  imageMissing: { code: 94003, status: 400, text: '镜像不存在或已被删除' },
  imageTypeMismatch: { code: 94004, status: 400, text: '镜像与实例类型不匹配' },
  flavorMissing: { code: 94005, status: 400, text: '规格不存在或不可用' },
  networkMissing: { code: 94006, status: 400, text: '网络不存在或已被删除' },
  diskShrink: { code: 94007, status: 400, text: '磁盘只能扩容，不能缩小' },
  cloudInitUnsupported: { code: 94008, status: 400, text: '所选镜像不支持自定义数据（cloud-init）' },
  terminalOpen: { code: 94009, status: 409, text: '同一实例只能打开一个终端' },
  terminalTicketInvalid: { code: 94010, status: 401, text: '终端连接凭证无效或已过期' },
  sizeUnchanged: { code: 94011, status: 400, text: '新规格与当前规格相同' },
  vmGone: { code: 94012, status: 400, text: '实例在云平台上已不存在' },
  diskBelowFlavor: { code: 94015, status: 400, text: '磁盘不能小于规格的{size} GB' },
  guestPasswordFailed: { code: 94013, status: 502, text: '无法在实例中设置登录密码，所选镜像可能不支持' },
  guestIgnoresShutdown: { code: 94014, status: 502, text: '实例没有响应关机请求，请在实例内关机或强制停止' },
})

export type ErrorName = keyof typeof errors

export const errorByCode: ReadonlyMap<number, ErrorEntry & { name: ErrorName }> = new Map(
  // Object.entries loses the key type.
  (Object.entries(errors) as [ErrorName, ErrorEntry][]).map(([key, entry]) => [entry.code, { ...entry, name: key }]),
)

/** Fills `{name}` in a catalogue text. Unfilled places stay out rather than show braces. */
export const fillText = (text: string, values: Readonly<Record<string, string | number>> = {}): string =>
  text.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''))
