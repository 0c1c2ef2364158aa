/// The characters whose canonical decomposition (Unicode 14) has combining marks, with the
/// decomposition without its marks.
struct AccentTable: Sendable {
  static let shared = AccentTable()

  let bases: [Unicode.Scalar: String]

  private init() {
    var bases: [Unicode.Scalar: String] = [:]
    for group in Self.groups.split(whereSeparator: \.isWhitespace) {
      let halves = group.split(separator: ":", omittingEmptySubsequences: false)
      var base = String.UnicodeScalarView()
      for code in halves[0].split(separator: "+") { base.append(contentsOf: Self.scalars(code)) }
      for run in halves[1].split(separator: ",") {
        for scalar in Self.scalars(run) { bases[scalar] = String(base) }
      }
    }
    self.bases = bases
  }

  /// The scalars of a code point, or of a range of code points, in hexadecimal.
  private static func scalars(_ run: Substring) -> [Unicode.Scalar] {
    let ends = run.split(separator: "-").compactMap { UInt32($0, radix: 16) }
    guard let first = ends.first, let last = ends.last else { return [] }
    return (first...last).compactMap { Unicode.Scalar($0) }
  }

  /// `base:composed,…` in hexadecimal code points, gathered from the decompositions of
  /// UnicodeData.txt.
  private static let groups = """
    :f73,f75,f81 3c:226e 3d:2260 3e:226f
    41:c0-c5,100,102,104,1cd,1de,1e0,1fa,200,202,226,1e00,1ea0,1ea2,1ea4,1ea6,1ea8,1eaa,1eac
    41:1eae,1eb0,1eb2,1eb4,1eb6,212b 42:1e02,1e04,1e06 43:c7,106,108,10a,10c,1e08
    44:10e,1e0a,1e0c,1e0e,1e10,1e12
    45:c8-cb,112,114,116,118,11a,204,206,228,1e14,1e16,1e18,1e1a,1e1c,1eb8,1eba,1ebc,1ebe
    45:1ec0,1ec2,1ec4,1ec6 46:1e1e 47:11c,11e,120,122,1e6,1f4,1e20
    48:124,21e,1e22,1e24,1e26,1e28,1e2a
    49:cc-cf,128,12a,12c,12e,130,1cf,208,20a,1e2c,1e2e,1ec8,1eca 4a:134 4b:136,1e8,1e30,1e32,1e34
    4c:139,13b,13d,1e36,1e38,1e3a,1e3c 4d:1e3e,1e40,1e42 4e:d1,143,145,147,1f8,1e44,1e46,1e48,1e4a
    4f:d2-d6,14c,14e,150,1a0,1d1,1ea,1ec,20c,20e,22a,22c,22e,230,1e4c,1e4e,1e50,1e52,1ecc
    4f:1ece,1ed0,1ed2,1ed4,1ed6,1ed8,1eda,1edc,1ede,1ee0,1ee2 50:1e54,1e56
    52:154,156,158,210,212,1e58,1e5a,1e5c,1e5e 53:15a,15c,15e,160,218,1e60,1e62,1e64,1e66,1e68
    54:162,164,21a,1e6a,1e6c,1e6e,1e70
    55:d9-dc,168,16a,16c,16e,170,172,1af,1d3,1d5,1d7,1d9,1db,214,216,1e72,1e74,1e76,1e78
    55:1e7a,1ee4,1ee6,1ee8,1eea,1eec,1eee,1ef0 56:1e7c,1e7e 57:174,1e80,1e82,1e84,1e86,1e88
    58:1e8a,1e8c 59:dd,176,178,232,1e8e,1ef2,1ef4,1ef6,1ef8 5a:179,17b,17d,1e90,1e92,1e94
    61:e0-e5,101,103,105,1ce,1df,1e1,1fb,201,203,227,1e01,1ea1,1ea3,1ea5,1ea7,1ea9,1eab,1ead
    61:1eaf,1eb1,1eb3,1eb5,1eb7 62:1e03,1e05,1e07 63:e7,107,109,10b,10d,1e09
    64:10f,1e0b,1e0d,1e0f,1e11,1e13
    65:e8-eb,113,115,117,119,11b,205,207,229,1e15,1e17,1e19,1e1b,1e1d,1eb9,1ebb,1ebd,1ebf
    65:1ec1,1ec3,1ec5,1ec7 66:1e1f 67:11d,11f,121,123,1e7,1f5,1e21
    68:125,21f,1e23,1e25,1e27,1e29,1e2b,1e96
    69:ec-ef,129,12b,12d,12f,1d0,209,20b,1e2d,1e2f,1ec9,1ecb 6a:135,1f0 6b:137,1e9,1e31,1e33,1e35
    6c:13a,13c,13e,1e37,1e39,1e3b,1e3d 6d:1e3f,1e41,1e43 6e:f1,144,146,148,1f9,1e45,1e47,1e49,1e4b
    6f:f2-f6,14d,14f,151,1a1,1d2,1eb,1ed,20d,20f,22b,22d,22f,231,1e4d,1e4f,1e51,1e53,1ecd
    6f:1ecf,1ed1,1ed3,1ed5,1ed7,1ed9,1edb,1edd,1edf,1ee1,1ee3 70:1e55,1e57
    72:155,157,159,211,213,1e59,1e5b,1e5d,1e5f 73:15b,15d,15f,161,219,1e61,1e63,1e65,1e67,1e69
    74:163,165,21b,1e6b,1e6d,1e6f,1e71,1e97
    75:f9-fc,169,16b,16d,16f,171,173,1b0,1d4,1d6,1d8,1da,1dc,215,217,1e73,1e75,1e77,1e79
    75:1e7b,1ee5,1ee7,1ee9,1eeb,1eed,1eef,1ef1 76:1e7d,1e7f 77:175,1e81,1e83,1e85,1e87,1e89,1e98
    78:1e8b,1e8d 79:fd,ff,177,233,1e8f,1e99,1ef3,1ef5,1ef7,1ef9 7a:17a,17c,17e,1e91,1e93,1e95
    a8:385,1fc1,1fed-1fee c6:1e2,1fc d8:1fe e6:1e3,1fd f8:1ff 17f:1e9b 1b7:1ee 292:1ef
    391:386,1f08-1f0f,1f88-1f8f,1fb8-1fbc 395:388,1f18-1f1d,1fc8-1fc9
    397:389,1f28-1f2f,1f98-1f9f,1fca-1fcc 399:38a,3aa,1f38-1f3f,1fd8-1fdb
    39f:38c,1f48-1f4d,1ff8-1ff9 3a1:1fec 3a5:38e,3ab,1f59,1f5b,1f5d,1f5f,1fe8-1feb
    3a9:38f,1f68-1f6f,1fa8-1faf,1ffa-1ffc
    3b1:3ac,1f00-1f07,1f70-1f71,1f80-1f87,1fb0-1fb4,1fb6-1fb7 3b5:3ad,1f10-1f15,1f72-1f73
    3b7:3ae,1f20-1f27,1f74-1f75,1f90-1f97,1fc2-1fc4,1fc6-1fc7
    3b9:390,3af,3ca,1f30-1f37,1f76-1f77,1fd0-1fd3,1fd6-1fd7 3bf:3cc,1f40-1f45,1f78-1f79
    3c1:1fe4-1fe5 3c5:3b0,3cb,3cd,1f50-1f57,1f7a-1f7b,1fe0-1fe3,1fe6-1fe7
    3c9:3ce,1f60-1f67,1f7c-1f7d,1fa0-1fa7,1ff2-1ff4,1ff6-1ff7 3d2:3d3-3d4 406:407 410:4d0,4d2
    413:403 415:400-401,4d6 416:4c1,4dc 417:4de 418:40d,419,4e2,4e4 41a:40c 41e:4e6
    423:40e,4ee,4f0,4f2 427:4f4 42b:4f8 42d:4ec 430:4d1,4d3 433:453 435:450-451,4d7 436:4c2,4dd
    437:4df 438:439,45d,4e3,4e5 43a:45c 43e:4e7 443:45e,4ef,4f1,4f3 447:4f5 44b:4f9 44d:4ed
    456:457 474:476 475:477 4d8:4da 4d9:4db 4e8:4ea 4e9:4eb 5d0:fb2e-fb30 5d1:fb31,fb4c 5d2:fb32
    5d3:fb33 5d4:fb34 5d5:fb35,fb4b 5d6:fb36 5d8:fb38 5d9:fb1d,fb39 5da:fb3a 5db:fb3b,fb4d
    5dc:fb3c 5de:fb3e 5e0:fb40 5e1:fb41 5e3:fb43 5e4:fb44,fb4e 5e6:fb46 5e7:fb47 5e8:fb48
    5e9:fb2a-fb2d,fb49 5ea:fb4a 5f2:fb1f 627:622-623,625 648:624 64a:626 6c1:6c2 6d2:6d3 6d5:6c0
    915:958 916:959 917:95a 91c:95b 921:95c 922:95d 928:929 92b:95e 92f:95f 930:931 933:934
    9a1:9dc 9a2:9dd 9af:9df a16:a59 a17:a5a a1c:a5b a2b:a5e a32:a33 a38:a36 b21:b5c b22:b5d
    c46:c48 dd9:dda dd9+dcf:ddd fb2:f76 fb3:f78 1fbf:1fcd-1fcf 1ffe:1fdd-1fdf 2190:219a 2192:219b
    2194:21ae 21d0:21cd 21d2:21cf 21d4:21ce 2203:2204 2208:2209 220b:220c 2223:2224 2225:2226
    223c:2241 2243:2244 2245:2247 2248:2249 224d:226d 2261:2262 2264:2270 2265:2271 2272:2274
    2273:2275 2276:2278 2277:2279 227a:2280 227b:2281 227c:22e0 227d:22e1 2282:2284 2283:2285
    2286:2288 2287:2289 2291:22e2 2292:22e3 22a2:22ac 22a8:22ad 22a9:22ae 22ab:22af 22b2:22ea
    22b3:22eb 22b4:22ec 22b5:22ed 2add:2adc 3046:3094 304b:304c 304d:304e 304f:3050 3051:3052
    3053:3054 3055:3056 3057:3058 3059:305a 305b:305c 305d:305e 305f:3060 3061:3062 3064:3065
    3066:3067 3068:3069 306f:3070-3071 3072:3073-3074 3075:3076-3077 3078:3079-307a 307b:307c-307d
    309d:309e 30a6:30f4 30ab:30ac 30ad:30ae 30af:30b0 30b1:30b2 30b3:30b4 30b5:30b6 30b7:30b8
    30b9:30ba 30bb:30bc 30bd:30be 30bf:30c0 30c1:30c2 30c4:30c5 30c6:30c7 30c8:30c9 30cf:30d0-30d1
    30d2:30d3-30d4 30d5:30d6-30d7 30d8:30d9-30da 30db:30dc-30dd 30ef:30f7 30f0:30f8 30f1:30f9
    30f2:30fa 30fd:30fe 11099:1109a 1109b:1109c 110a5:110ab 1d157:1d15e 1d158:1d15f-1d164
    1d1b9:1d1bb,1d1bd,1d1bf 1d1ba:1d1bc,1d1be,1d1c0
    """
}
