public import FieldpackCore
import FieldpackField

extension MotionDevice {
  /// This machine: system by `os-release`, name by host name, model by the firmware.
  ///
  /// - Parameters:
  ///   - identifierFile: the file that holds the identifier. Where it is missing, it is made with a
  ///     new one. By default the file that ``FieldpackField/MachineIdentity`` has for devices.
  ///   - root: the folder below which the machine's files are looked for.
  /// - Throws: what reading or writing the identifier throws; `.invalidData` where the file holds
  ///   something else.
  public static func machine(
    identifierFile: String? = nil, root: String = "/"
  ) throws(FieldpackError) -> MotionDevice {
    let base = root.hasSuffix("/") ? root : root + "/"
    let release = settings(base + "etc/os-release") ?? settings(base + "usr/lib/os-release")
    let host =
      line(base + "etc/hostname") ?? line(base + "proc/sys/kernel/hostname") ?? "localhost"
    let model =
      line(base + "sys/class/dmi/id/product_name")
      ?? line(base + "sys/firmware/devicetree/base/model") ?? ""
    let identity =
      if let identifierFile {
        try MachineIdentity.stored(.device, in: identifierFile)
      } else {
        try MachineIdentity.stored(.device)
      }
    return MotionDevice(
      systemName: release?["NAME"] ?? "Linux", systemVersion: release?["VERSION_ID"] ?? "",
      name: host, identifierForVendor: identity.text, model: model)
  }

  /// The first line of a small file; `nil` where there is none.
  private static func line(_ path: String) -> String? {
    guard let text = try? text(path) else { return nil }
    let first = text.split(whereSeparator: { $0.isNewline || $0 == "\0" }).first.map { String($0) }
    let bounded = first.map { String($0.prefix(200)) }
    return bounded.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func text(_ path: String) throws(FieldpackError) -> String {
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let input = try ByteInput(path: path)
    let read = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(FieldpackError) in try input.read(into: buffer) }
    }
    let count = try read.get()
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// The assignments of a file such as `os-release`.
  private static func settings(_ path: String) -> [String: String]? {
    guard let text = try? text(path) else { return nil }
    var settings: [String: String] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      var value = parts[1]
      if value.count >= 2, let quote = value.first, "\"'".contains(quote), value.last == quote {
        value = value.dropFirst().dropLast()
      }
      settings[String(parts[0])] = String(value.prefix(200))
    }
    return settings
  }
}
