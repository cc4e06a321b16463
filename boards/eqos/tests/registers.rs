//! Compares this driver's offsets and bits with the vendor's description in `stm32-metapac`.

use outrigger_eqos::registers as r;
use stm32_metapac::ETH;
use stm32_metapac::eth::regs;

#[test]
fn offsets_are_those_of_the_vendor() {
    let base = ETH.as_ptr().addr();
    let (mac, mtl, dma) = (ETH.ethernet_mac(), ETH.ethernet_mtl(), ETH.ethernet_dma());
    for (ours, theirs) in [
        (r::MACCR, mac.maccr().as_ptr().addr()),
        (r::MACPFR, mac.macpfr().as_ptr().addr()),
        (r::MAC1USTCR, mac.mac1ustcr().as_ptr().addr()),
        (r::MACMDIOAR, mac.macmdioar().as_ptr().addr()),
        (r::MACMDIODR, mac.macmdiodr().as_ptr().addr()),
        (r::MACA0HR, mac.maca0hr().as_ptr().addr()),
        (r::MACA0LR, mac.maca0lr().as_ptr().addr()),
        (r::MMC_RX_INTERRUPT_MASK, mac.mmc_rx_interrupt_mask().as_ptr().addr()),
        (r::MMC_TX_INTERRUPT_MASK, mac.mmc_tx_interrupt_mask().as_ptr().addr()),
        (r::MTLTXQOMR, mtl.mtltx_qomr().as_ptr().addr()),
        (r::MTLRXQOMR, mtl.mtlrx_qomr().as_ptr().addr()),
        (r::DMAMR, dma.dmamr().as_ptr().addr()),
        (r::DMADSR, dma.dmadsr().as_ptr().addr()),
        (r::DMACTXCR, dma.dmactx_cr().as_ptr().addr()),
        (r::DMACRXCR, dma.dmacrx_cr().as_ptr().addr()),
        (r::DMACTXDLAR, dma.dmactx_dlar().as_ptr().addr()),
        (r::DMACRXDLAR, dma.dmacrx_dlar().as_ptr().addr()),
        (r::DMACTXDTPR, dma.dmactx_dtpr().as_ptr().addr()),
        (r::DMACRXDTPR, dma.dmacrx_dtpr().as_ptr().addr()),
        (r::DMACTXRLR, dma.dmactx_rlr().as_ptr().addr()),
        (r::DMACRXRLR, dma.dmacrx_rlr().as_ptr().addr()),
        (r::DMACIER, dma.dmacier().as_ptr().addr()),
        (r::DMACSR, dma.dmacsr().as_ptr().addr()),
    ] {
        assert_eq!(base + ours, theirs, "{ours:#x}");
    }
}

#[test]
fn bits_are_those_of_the_vendor() {
    let status = [
        (r::TI, regs::Dmacsr::ti as fn(&regs::Dmacsr) -> bool),
        (r::TPS, regs::Dmacsr::tps),
        (r::RI, regs::Dmacsr::ri),
        (r::RBU, regs::Dmacsr::rbu),
        (r::RPS, regs::Dmacsr::rps),
        (r::FBE, regs::Dmacsr::fbe),
        (r::AIS, regs::Dmacsr::ais),
        (r::NIS, regs::Dmacsr::nis),
    ];
    for (bit, is) in status {
        assert!(is(&regs::Dmacsr(bit)) && !is(&regs::Dmacsr(!bit)), "{bit:#x}");
    }
    let enabled = regs::Dmacier(r::TI | r::RI | r::RBU | r::RPS | r::FBE | r::AIS | r::NIS);
    assert!(enabled.tie() && enabled.rie() && enabled.rbue() && enabled.rse() && enabled.fbee());
    assert!(enabled.aie() && enabled.nie() && !enabled.txse() && !enabled.tbue());
    let mode = regs::Maccr(r::MACCR_RE | r::MACCR_TE | r::MACCR_DM | r::MACCR_FES | r::MACCR_ACS | r::MACCR_CST);
    assert!(mode.re() && mode.te() && mode.dm() && mode.fes() && mode.acs() && mode.cst());
    assert_eq!(mode.0.count_ones(), 6);
    let transfer = regs::Macmdioar(5 << 21 | 31 << 16 | 4 << 8 | r::MACMDIOAR_READ | r::MACMDIOAR_MB);
    assert_eq!((transfer.pa(), transfer.rda(), transfer.cr(), transfer.goc(), transfer.mb()), (5, 31, 4, 3, true));
    assert_eq!(regs::Macmdioar(r::MACMDIOAR_WRITE).goc(), 1);
    let receive = regs::DmacrxCr(r::DMACRXCR_SR | r::DMACRXCR_PBL_1 | (1_536 * r::DMACRXCR_RBSZ));
    assert_eq!((receive.sr(), receive.rxpbl(), receive.rbsz()), (true, 1, 1_536));
    let transmit = regs::DmactxCr(r::DMACTXCR_ST | r::DMACTXCR_PBL_1);
    assert_eq!((transmit.st(), transmit.txpbl()), (true, 1));
    assert_eq!(regs::Dmadsr(r::SUSPENDED << r::DMADSR_RPS0).rps0(), 4);
    assert_eq!(regs::Dmadsr(r::TX_SUSPENDED << r::DMADSR_TPS0).tps0(), 6);
    assert!(regs::Dmamr(r::DMAMR_SWR).swr() && regs::Macpfr(r::MACPFR_PM).pm());
    assert!(regs::MtlrxQomr(r::MTLRXQOMR_RSF).rsf());
    let queue = regs::MtltxQomr(r::MTLTXQOMR_TSF | r::MTLTXQOMR_FTQ);
    assert!(queue.tsf() && queue.ftq());
    let quiet = regs::MmcRxInterruptMask(r::MMC_RX_ALL);
    assert!(quiet.rxcrcerpim() && quiet.rxalgnerpim() && quiet.rxucgpim() && quiet.rxlpiuscim() && quiet.rxlpitrcim());
    let quiet = regs::MmcTxInterruptMask(r::MMC_TX_ALL);
    assert!(quiet.txscolgpim() && quiet.txmcolgpim() && quiet.txgpktim() && quiet.txlpiuscim() && quiet.txlpitrcim());
}
