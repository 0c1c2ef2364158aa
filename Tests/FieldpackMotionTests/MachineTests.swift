import FieldpackCore
import FieldpackMotion
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct MachineTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ files: [String: String]) throws {
    for (path, text) in files {
      let url = folder.file(path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
  }

  @Test func `industrial I/O sensors give readings in the protocol's units`() async throws {
    try write([
      "iio:device1/in_anglvel_x_raw": "1\n", "iio:device1/in_anglvel_y_raw": "-2\n",
      "iio:device1/in_anglvel_z_raw": "3\n", "iio:device1/in_anglvel_scale": "0.5\n",
      "iio:device0/in_accel_x_raw": "0\n", "iio:device0/in_accel_y_raw": "-100\n",
      "iio:device0/in_accel_z_raw": "900\n", "iio:device0/in_accel_scale": "0.00980665\n",
      "iio:device0/in_accel_z_offset": "100\n", "iio:device0/in_magn_x_raw": "7\n",
      "trigger0/in_magn_x_raw": "7\n",
    ])
    let source = try IndustrialIOSource(folder: folder.url.path)
    #expect(source.sections == [.acceleration, .rotation])
    let reading = try await source.next()
    #expect(reading?.rotation == .init(x: 0.5, y: -1, z: 1.5))
    let acceleration = try #require(reading?.acceleration)
    #expect(acceleration.x == 0)
    #expect(abs(acceleration.y - 0.1) < 1e-12 && abs(acceleration.z + 1) < 1e-12)
    #expect(reading?.magneticField == nil && reading?.attitude == nil)
    try write(["iio:device0/in_accel_z_raw": "901\n"])
    let next = try #require(try await source.next()?.acceleration)
    #expect(abs(next.z + 1.001) < 1e-12)
  }

  @Test func `a sensor that cannot be read for a moment lacks in those readings`() async throws {
    var files: [String: String] = [:]
    for axis in ["x", "y", "z"] {
      files["iio:device0/in_accel_\(axis)_raw"] = "0"
      files["iio:device0/in_magn_\(axis)_raw"] = "1"
    }
    try write(files)
    let source = try IndustrialIOSource(folder: folder.url.path)
    let path = folder.file("iio:device0/in_accel_y_raw")
    // Reading a folder is an error of input, as that of a bus that is disturbed.
    try FileManager.default.removeItem(at: path)
    try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
    for _ in 1..<IndustrialIOSource.failureLimit {
      #expect(try await source.next()?.sections == .magneticField)
    }
    try FileManager.default.removeItem(at: path)
    try write(["iio:device0/in_accel_y_raw": "0"])
    #expect(try await source.next()?.sections == [.acceleration, .magneticField])
    try FileManager.default.removeItem(at: path)
    #expect(try await source.next()?.sections == .magneticField)
  }

  @Test func `a sensor that goes on holding no number is named`() async throws {
    try write([
      "iio:device0/in_magn_x_raw": "1", "iio:device0/in_magn_y_raw": "2",
      "iio:device0/in_magn_z_raw": "busy",
    ])
    let source = try IndustrialIOSource(folder: folder.url.path)
    for _ in 1..<IndustrialIOSource.failureLimit {
      #expect(try await source.next() == MotionReading())
    }
    do {
      _ = try await source.next()
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .unavailable)
      #expect(error.message.hasSuffix("in_magn_z_raw holds 'busy', which is no number"))
    }
  }

  @Test func `a machine without sensors is an error`() {
    let error = failure { _ = try IndustrialIOSource(folder: folder.file("none").path) }
    #expect(error?.code == .unavailable)
  }

  @Test func `a machine tells of itself, and keeps its identifier`() throws {
    try write([
      "etc/os-release": "# a remark\nNAME=\"Debian GNU/Linux\"\nVERSION_ID='12'\n",
      "etc/hostname": "buoy\n", "sys/class/dmi/id/product_name": "Board 7\n",
    ])
    let file = folder.file("state/fieldpack/device").path
    let device = try MotionDevice.machine(identifierFile: file, root: folder.url.path)
    #expect(device.systemName == "Debian GNU/Linux" && device.systemVersion == "12")
    #expect(device.name == "buoy" && device.model == "Board 7")
    #expect(device.identifierForVendor?.count == 36)
    #expect(try MotionDevice.machine(identifierFile: file, root: folder.url.path) == device)
  }

  @Test func `an identifier is taken as its file has it`() throws {
    try write(["id": "6f9619ff-8b86-d011-b42d-00cf4fc964ff\nof the buoy\n"])
    let device = try MotionDevice.machine(identifierFile: folder.file("id").path)
    #expect(device.identifierForVendor == "6f9619ff-8b86-d011-b42d-00cf4fc964ff")
  }

  @Test func `a file that holds no identifier is not replaced`() throws {
    try write(["id": "mine"])
    let file = folder.file("id").path
    let error = failure { _ = try MotionDevice.machine(identifierFile: file) }
    #expect(error?.code == .invalidData)
    #expect(
      error?.message == "\(file) does not hold the identifier of this device. Try: remove it")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
  }
}
