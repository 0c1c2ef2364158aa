import FieldpackSensors
import Testing

/// What an item captures and by what, step by step.
@Suite struct ItemSetupTests {
  typealias Event = ItemSetup.Event
  typealias Effect = ItemSetup.Effect

  private static let camera = SensorDevice(SensorAddress(uri: "cam://0"))
  private static let north = SensorAddress(uri: "http://n")

  /// Takes the events and gives the steps that they lead to, and the effects of the last.
  private func run(
    _ setup: ItemSetup, _ events: [Event]
  ) -> (steps: [ItemSetup.Step], last: [Effect], setup: ItemSetup) {
    var (setup, steps, last) = (setup, [setup.step], [Effect]())
    for event in events {
      last = setup.take(event)
      steps.append(setup.step)
    }
    return (steps, last, setup)
  }

  @Test func `a new item is stored at the end only`() {
    let events: [Event] = [
      .chose(.finger), .choseType(.leftSlap), .newDevice, .typed("n"), .named("desk"), .finish,
    ]
    var setup = ItemSetup()
    var stored: [ItemDraft] = []
    for event in events {
      #expect(stored.isEmpty)
      for case .store(let draft) in setup.take(event) { stored.append(draft) }
    }
    let device = SensorDevice(SensorAddress(uri: "http://n", name: "desk"))
    #expect(
      stored == [ItemDraft(modality: .finger, captureType: .leftSlap, device: device)])
    #expect(setup.step == .done)
    #expect(setup.take(.typed("x")) == [])
  }

  /// Each row: where it begins, what happens, the steps, and what is to be done at the end.
  @Test(arguments: [
    (
      [Event.chose(.iris), .choseType(.leftIris)],
      [ItemSetup.Step.modality, .submodality, .device], [Effect.offerDevices(.iris)]
    ),
    ([.keep], [.modality, .modality], []),
    (
      [.choseType(.leftIris), .newDevice, .finish], [.modality, .modality, .modality, .modality], []
    ),
    ([.chose(.iris), .choseType(.face2d)], [.modality, .submodality, .submodality], []),
    (
      [.chose(.iris), .back, .back], [.modality, .submodality, .modality, .modality], []
    ),
    (
      [.chose(.face), .choseType(.face2d), .choseDevice(camera)],
      [.modality, .submodality, .device, .address],
      [.check(SensorAddress(uri: "cam://0"), after: .seconds(3), number: 1)]
    ),
    (
      [.chose(.face), .choseType(.face2d), .newDevice],
      [.modality, .submodality, .device, .address], []
    ),
    (
      [.chose(.face), .choseType(.face2d), .newDevice, .finish],
      [.modality, .submodality, .device, .address, .address], []
    ),
    (
      [.chose(.face), .choseType(.face2d), .newDevice, .typed("n"), .checkAgain],
      [.modality, .submodality, .device, .address, .address, .address],
      [.cancelCheck(number: 1), .check(north, after: .milliseconds(50), number: 2)]
    ),
    (
      [.chose(.face), .choseType(.face2d), .choseDevice(camera), .back],
      [.modality, .submodality, .device, .address, .device],
      [.cancelCheck(number: 1), .offerDevices(.face)]
    ),
    (
      [.chose(.face), .choseType(.face2d), .choseDevice(camera), .cancel],
      [.modality, .submodality, .device, .address, .cancelled], [.cancelCheck(number: 1)]
    ),
    (
      [.chose(.face), .choseType(.face2d), .keep], [.modality, .submodality, .device, .done],
      [.store(ItemDraft(modality: .face, captureType: .face2d))]
    ),
  ])
  func `each event leads to its step`(events: [Event], steps: [ItemSetup.Step], effects: [Effect]) {
    let result = run(ItemSetup(), events)
    #expect(result.steps == steps)
    #expect(result.last == effects)
  }

  @Test func `an item keeps what it has at each step`() {
    let draft = ItemDraft(modality: .face, captureType: .face2d, device: Self.camera)
    let kept = run(ItemSetup(changing: draft), [.keep, .keep, .keep])
    #expect(kept.steps == [.modality, .submodality, .device, .done])
    #expect(kept.last == [.store(draft)])
    let later = run(ItemSetup(changing: draft, from: .device), [.back, .keep])
    #expect(later.steps == [.device, .device, .done])
    let middle = run(ItemSetup(changing: draft, from: .submodality), [.choseType(.face3d), .back])
    #expect(middle.steps == [.submodality, .device, .submodality])
    // Another modality has other sensors.
    let other = run(ItemSetup(changing: draft), [.chose(.ear), .choseType(.leftEar), .keep])
    #expect(other.last == [.store(ItemDraft(modality: .ear, captureType: .leftEar))])
  }

  @Test func `a keystroke ends the check before and an old answer is passed over`() {
    var setup = run(
      ItemSetup(), [.chose(.face), .choseType(.face2d), .newDevice]
    ).setup
    #expect(setup.check.text == "Enter a sensor address below.")
    let first = SensorAddress(uri: "http://n")
    #expect(setup.take(.typed(" n ")) == [.check(first, after: .seconds(3), number: 1)])
    #expect(setup.check == .checking)
    #expect(
      setup.take(.typed("nn")) == [
        .cancelCheck(number: 1),
        .check(SensorAddress(uri: "http://nn"), after: .seconds(3), number: 2),
      ])
    #expect(setup.take(.checked(number: 1, .successful)) == [])
    #expect(setup.check == .checking)
    #expect(setup.take(.checked(number: 2, .notFound)) == [])
    #expect(setup.check.text == "No sensor found at this address.")
    #expect(setup.take(.typed("")) == [])
    #expect(setup.check == .blank)
  }

  @Test func `the texts of the results of a check are these`() {
    #expect(
      SensorCheck.badModality(.finger).text
        == "The sensor at this address can't capture finger data.")
    #expect(
      SensorCheck.badSubmodality(.rightThumbRolled).text
        == "The sensor at this address can't capture right thumb (rolled) data.")
    #expect(SensorCheck.successful.text == "Found a sensor at this address.")
  }

  @Test(
    arguments: [
      (parameter("FINGER", isReadOnly: true), SensorCheck.successful),
      (parameter("face", allowed: ["Finger"], isReadOnly: true), .badModality(.finger)),
      (parameter("face", allowed: ["face", "finger"]), .successful),
      (parameter("finger"), .badModality(.finger)), (.null, .badModality(.finger)),
    ])
  func `a parameter is its value or allows it`(modality: SensorValue, verdict: SensorCheck) {
    let type = Self.parameter("", allowed: ["leftslap"])
    let information: SensorDictionary = ["modality": modality, "submodality": type]
    #expect(SensorCheck(information, for: .finger, .leftSlap) == verdict)
    guard verdict == .successful else { return }
    #expect(
      SensorCheck(information, for: .finger, .rightSlap) == .badSubmodality(.rightSlap))
    #expect(
      SensorCheck(["modality": modality], for: .finger, .leftSlap) == .badSubmodality(.leftSlap))
    #expect(SensorCheck(["modality": modality], for: .finger, nil) == .successful)
  }

  private static func parameter(
    _ value: String, allowed: [String] = [], isReadOnly: Bool = false
  ) -> SensorValue {
    .parameter(
      SensorParameter(
        "", type: "string", isReadOnly: isReadOnly, defaultValue: .string(value),
        allowedValues: allowed.map { .string($0) }))
  }
}
