import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackMotion

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// A receiver of motion without a network, which tests kill: `FieldpackTestSubject FILE.gpkg PIPE`.
//
// The pipe brings bodies, one a line; an empty line ends a group. Each group gives one line when it
// is stored: the status and body of each answer, between tabs.
let words = CommandLine.arguments
let store = try await GeoPackageStore(path: words[1], id: "field")
let receiver = MotionReceiver(store)
let output = ByteOutput(descriptor: STDOUT_FILENO)
let input = open(words[2], O_RDONLY | O_CLOEXEC)
var lines = LineBuffer(limit: MotionRequest.maximumLength)
var group: [[UInt8]] = []
while try lines.fill({ room in max(0, read(input, room.baseAddress, room.count)) }) > 0 {
  while let line = lines.next() {
    guard case .text(let range) = line else { continue }
    let body = lines.withBytes(range) { Array($0) }
    guard body.isEmpty else {
      group.append(body)
      continue
    }
    let responses = try await receiver.answer(group, at: MotionTime.system.now())
    group = []
    output.buffer += responses.map { "\($0.status) \($0.body)" }.joined(separator: "\t").utf8
    output.buffer.append(UInt8(ascii: "\n"))
    try output.flush()
  }
}
await store.close()
